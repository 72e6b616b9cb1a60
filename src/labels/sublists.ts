import { refOf } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import { validate } from '../common/fields/validate.js';
import { existing } from '../common/invariants.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached, related } from '../common/rest/sublist-kinds.js';
import { and, ident, not, sql, TRUE } from '../database/sql.js';
import { labelLinkOf, labelLinks } from './label-links.js';

const MAX_LABELS = 100;

/** Labels of an object that is read-only, such as a job. */
export const labelsOf = (): ReturnType<typeof related> =>
  // Whoever may read the object may read its labels.
  related('labels', { options: () => ({ visible: TRUE }) });

/**
 * `labels/` of an object: `{name, organization}` attaches the label of that name (204) or makes it
 * (201); detaching the last use deletes it (docs/contract/resources.md#labels).
 */
export const attachLabels =
  (): ((definition: ResourceDefinition, name: string) => SubListSpec) => (definition, name) =>
    attached('labels', {
      options: () => ({ visible: TRUE }),
      create: () => ({}),
      existing: findLabel,
      check: assertRoom,
      afterDetach: deleteUnused,
    })(definition, name);

async function findLabel(
  { services }: LinkContext,
  body: Record<string, unknown>,
): Promise<Row | undefined> {
  const { name, organization } = validate(resource('label').schema, body);
  return services.database.row<Row>(sql`
    SELECT id FROM labels WHERE name = ${name} AND organization_id = ${organization}`);
}

/** The parent is locked, so that two requests do not both take the last place. */
async function assertRoom(context: LinkContext, label: Row): Promise<void> {
  const { services, parent, parentDefinition } = context;
  const { table, near } = labelLinkOf(parentDefinition);
  await services.database.execute(sql`
    SELECT 1 FROM ${ident(parentDefinition.table)} WHERE id = ${parent.id} FOR NO KEY UPDATE`);
  const row = existing(
    await services.database.row<{ others: number }>(sql`
    SELECT count(*)::int AS others FROM ${ident(table)}
    WHERE ${ident(near)} = ${parent.id} AND label_id <> ${label.id}`),
    'an aggregate has a row',
  );
  if (row.others >= MAX_LABELS) {
    const { name } = refOf(parentDefinition, parent);
    throw new BadRequest(`Maximum number of labels for ${name} reached.`);
  }
}

/** The lock comes first: an object that takes the label at this moment is seen by the second look. */
async function deleteUnused({ services }: LinkContext, label: Row): Promise<void> {
  await services.database.execute(sql`SELECT 1 FROM labels WHERE id = ${label.id} FOR UPDATE`);
  const unused = labelLinks().map(({ table }) =>
    not(sql`EXISTS (SELECT 1 FROM ${ident(table)} lnk WHERE lnk.label_id = ${label.id})`),
  );
  await services.database.execute(sql`
    DELETE FROM labels WHERE ${and(sql`id = ${label.id}`, ...unused)}`);
}
