import { refOf } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import { validate } from '../common/fields/validation.js';
import { resource, type ResourceDefinition, type Row } from '../common/resource/define-resource.js';
import { selectLinks, selectRows } from '../common/resource/select-rows.js';
import { attached, type LinkContext, related, type SubListSpec } from '../common/rest/sublist.js';
import { sql, TRUE } from '../database/sql.js';
import { labelLinkOf } from './label-links.js';
import { LabelsRepository } from './labels.repository.js';

const MAX_LABELS = 100;

type LabelContext = LinkContext<Row, LabelsRepository>;

/** Declares the list of labels of a read-only object, such as a job. */
export const labelsOf = (): ReturnType<typeof related> =>
  // A caller who can read the object can read its labels.
  related('labels', { options: () => ({ visible: TRUE }) });

/**
 * Declares `labels/` of an object: `{name, organization}` attaches the label of that name (204) or
 * creates it (201). A trigger deletes a label with its last use (docs/contract/resources.md#labels).
 */
export const attachLabels =
  (): ((definition: ResourceDefinition, name: string) => SubListSpec) => (definition, name) =>
    attached('labels', {
      rules: LabelsRepository,
      options: () => ({ visible: TRUE }),
      create: () => ({}),
      existing: findLabel,
      check: assertLabelLimit,
    })(definition, name);

async function findLabel(
  { rules: labels }: LabelContext,
  body: Record<string, unknown>,
): Promise<Row | undefined> {
  const { name, organization } = validate(resource('label').entity, body);
  return labels.byName(name, organization);
}

/**
 * Verifies the maximum number of labels. Locks the parent, so that two requests cannot both add the last
 * label.
 */
async function assertLabelLimit(context: LinkContext, label: Row): Promise<void> {
  const { services, parent, parentDefinition } = context;
  const { database } = services;
  const parentRow = selectRows(parentDefinition, 't', sql`1`, sql`t.id = ${parent.id}`);
  await database.execute(sql`${parentRow} FOR NO KEY UPDATE`);
  const links = selectLinks(labelLinkOf(parentDefinition));
  const row = await database.rowOrFail<{ others: number }>(sql`
    SELECT count(*)::int AS others FROM (${links}) lnk
    WHERE lnk.source_id = ${parent.id} AND lnk.target_id <> ${label.id}`);
  if (row.others >= MAX_LABELS) {
    const { name } = refOf(parentDefinition, parent);
    throw new BadRequest(`Maximum number of labels for ${name} reached.`);
  }
}
