import { Invalid } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext } from '../common/rest/sublist.js';
import { attachError, type CombinedCredential } from '../credentials/types/combination.js';
import { sql } from '../database/sql.js';

/**
 * Refuses a credential that does not fit beside those a template has
 * (docs/contract/resources.md#credentials-of-templates). The template's row is locked: two
 * attachments at once must see each other.
 */
export async function assertAttachable(
  { services: { database }, parent }: LinkContext,
  child: Row,
): Promise<void> {
  await database.row(sql`SELECT 1 FROM unified_job_templates WHERE id = ${parent.id} FOR UPDATE`);
  const rows = await database.rows<CombinedCredential & { id: number; is_attached: boolean }>(sql`
    SELECT c.id, c.name, c.inputs, to_json(ct) AS type, lnk.id IS NOT NULL AS is_attached
    FROM credentials c JOIN credential_types ct ON ct.id = c.credential_type_id
    LEFT JOIN job_template_credentials lnk
      ON lnk.credential_id = c.id AND lnk.job_template_id = ${parent.id}
    WHERE c.id = ${child.id} OR lnk.id IS NOT NULL`);
  const added = rows.find(({ id }) => id === child.id);
  if (!added || added.is_attached) return;
  const fault = attachError(
    rows.filter(({ is_attached: isAttached }) => isAttached),
    added,
  );
  if (fault !== null) throw Invalid.field('credentials', fault);
}
