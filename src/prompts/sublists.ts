import { BadRequest } from '../common/errors/errors.js';
import { entryOf } from '../common/invariants.js';
import { type Row } from '../common/resource/define-resource.js';
import { attached, type LinkContext, type SubListFactory } from '../common/rest/sublist.js';
import { credentialSlot, JOB_KINDS } from '../credentials/types/combination.js';
import {
  SavedLaunchTargets,
  type LaunchCredential,
  type SavedLaunchTarget,
} from './saved-launch-targets.js';

/** Declares the sub-list of the credentials of a saved launch. */
export const credentialsOfSavedLaunch = (): SubListFactory =>
  attached('credentials', {
    rules: SavedLaunchTargets,
    childNeeds: 'use',
    check: assertCredentialFits,
  });

/**
 * Rejects a credential that the saved launch of a node or schedule cannot use
 * (docs/contract/workflows.md#credentials-of-nodes). Locks the row of the saved launch, so that
 * concurrent requests cannot attach conflicting credentials.
 */
async function assertCredentialFits(
  context: LinkContext<Row, SavedLaunchTargets>,
  child: Row,
): Promise<void> {
  const { rules: targets, services, parent, parentDefinition } = context;
  const attachedIds = await services.rows.attachedIds(parentDefinition, parent.id, 'credentials');
  if (attachedIds.includes(child.id)) return;
  const { unified_job_template_id: templateId } = parent;
  const templates = await targets.templates(typeof templateId === 'number' ? [templateId] : []);
  const credentials = await targets.credentials([...attachedIds, child.id]);
  const fault = faultOf(
    entryOf(credentials, child.id),
    attachedIds.flatMap((id) => credentials.get(id) ?? []),
    templates.get(Number(templateId)),
  );
  if (fault !== null) throw new BadRequest(fault);
}

function faultOf(
  added: LaunchCredential,
  attachedCredentials: readonly LaunchCredential[],
  template: SavedLaunchTarget | undefined,
): string | null {
  if (!template) return 'Cannot assign credential when related template is null.';
  if (template.type !== 'job_template') {
    return 'Related template cannot accept credentials on launch.';
  }
  if (!JOB_KINDS.includes(added.type.kind)) {
    return `Cannot assign a Credential of kind \`${added.type.kind}\`.`;
  }
  if (added.passwordsNeeded.length > 0) {
    return 'Credential that requires user input on launch cannot be used in saved launch configuration.';
  }
  if (!template.prompted.promptsFor('credentials')) {
    return 'Related template is not configured to accept credentials on launch.';
  }
  const slot = credentialSlot(added);
  if (attachedCredentials.some((attached) => credentialSlot(attached).key === slot.key)) {
    return `This launch configuration already provides a ${slot.label} credential.`;
  }
  return template.credentials.some(({ id }) => id === added.id)
    ? `Related template already uses ${added.name} credential.`
    : null;
}
