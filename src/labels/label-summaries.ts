import { entryOf } from '../common/invariants.js';
import type { RepresentContext, ResourceDefinition } from '../common/resource/define-resource.js';
import { INTEGER, list, object, STRING } from '../common/fields/json-schema.js';
import { ident, sql } from '../database/sql.js';
import { labelLinkOf } from './label-links.js';

/** Labels that a summary names; the count is of all. */
const SHOWN = 10;

export interface LabelSummary {
  count: number;
  results: { id: number; name: string }[];
}

/** Schema of `summary_fields.labels`. */
export const LABEL_SUMMARY = object({
  count: INTEGER,
  results: list(object({ id: INTEGER, name: STRING })),
});

/** `summary_fields.labels` of objects of one kind, in one statement. */
export async function labelSummaries(
  definition: ResourceDefinition,
  ids: readonly number[],
  { database }: Pick<RepresentContext, 'database'>,
): Promise<Map<number, LabelSummary>> {
  const { table, near } = labelLinkOf(definition);
  const found = await database.preparedRows<{
    near: number;
    id: number;
    name: string;
    total: number;
  }>(sql`
    SELECT owner.id AS near, one.id, one.name, one.total
    FROM unnest(${ids}::int[]) AS owner (id) CROSS JOIN LATERAL (
      SELECT lab.id, lab.name, count(*) OVER ()::int AS total
      FROM ${ident(table)} lnk JOIN labels lab ON lab.id = lnk.label_id
      WHERE lnk.${ident(near)} = owner.id ORDER BY lab.name, lab.id LIMIT ${SHOWN}) AS one`);
  const summaries = new Map<number, LabelSummary>(ids.map((id) => [id, { count: 0, results: [] }]));
  for (const { near: owner, id, name, total } of found) {
    const summary = entryOf(summaries, owner);
    summary.count = total;
    summary.results.push({ id, name });
  }
  return summaries;
}
