import { BadRequest } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext } from '../common/resource/sublist.js';
import { credentialSlot, JOB_KINDS } from '../credentials/types/combination.js';
import { sql } from '../database/sql.js';
import { LaunchLoader, type LaunchCredential } from '../jobs/launch-loader.js';
import { NodeTemplateLoader, type NodeTemplate } from './node-template-loader.js';

/**
 * Refuses a credential that the launch of a node could not take (core 13.2). The node's row is
 * locked: two attachments at once must see each other.
 */
export async function assertCredentialFits(
  { machinery, parent }: LinkContext,
  child: Row,
): Promise<void> {
  const { database } = machinery;
  await database.row(sql`
    SELECT 1 FROM workflow_job_template_nodes WHERE id = ${parent.id} FOR UPDATE`);
  const links = await database.rows<{ credential_id: number }>(sql`
    SELECT credential_id FROM workflow_template_node_credentials WHERE node_id = ${parent.id}`);
  const held = links.map(({ credential_id: id }) => id);
  if (held.includes(child.id)) return;
  const templateId = parent.unified_job_template_id as number | null;
  const templates = await machinery
    .find(NodeTemplateLoader)
    .load(templateId === null ? [] : [templateId]);
  const { credentials } = await machinery
    .find(LaunchLoader)
    .load({ templates: [], inventories: [], credentials: [...held, child.id] }, null);
  const fault = faultOf(
    credentials.get(child.id)!,
    held.flatMap((id) => credentials.get(id) ?? []),
    templates.get(templateId ?? 0),
  );
  if (fault !== null) throw new BadRequest(fault);
}

function faultOf(
  added: LaunchCredential,
  held: readonly LaunchCredential[],
  template: NodeTemplate | undefined,
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
  if (!template.prompted.asks('credentials')) {
    return 'Related template is not configured to accept credentials on launch.';
  }
  const slot = credentialSlot(added);
  if (held.some((one) => credentialSlot(one).key === slot.key)) {
    return `This launch configuration already provides a ${slot.label} credential.`;
  }
  return template.credentials.some(({ id }) => id === added.id)
    ? `Related template already uses ${added.name} credential.`
    : null;
}
