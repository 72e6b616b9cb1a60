import { Invalid } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext } from '../common/rest/sublist.js';
import { attachError } from '../credentials/types/combination.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { JobTemplatesRepository } from './job-templates.repository.js';

/**
 * Refuses a credential that conflicts with the template's attached ones
 * (docs/contract/resources.md#credentials-of-templates). Locks the template's row, so that
 * simultaneous attachments see each other.
 */
export async function assertAttachable(
  { services, parent }: LinkContext,
  child: Row,
): Promise<void> {
  await services.find(TemplatesRepository).lock(parent.id);
  const rows = await services.find(JobTemplatesRepository).besideCredential(parent.id, child.id);
  const added = rows.find(({ id }) => id === child.id);
  if (!added || added.is_attached) return;
  const fault = attachError(
    rows.filter(({ is_attached: isAttached }) => isAttached),
    added,
  );
  if (fault !== null) throw Invalid.field('credentials', fault);
}
