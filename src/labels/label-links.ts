import * as json from '../common/fields/json-schema.js';
import { entryOf } from '../common/invariants.js';
import {
  manyToMany,
  type ManyToMany,
  type ResourceDefinition,
} from '../common/resource/define-resource.js';
import type { RepresentContext } from '../common/resource/extension.js';
import { attachedLabels, type AttachedLabel } from './labels.repository.js';

/** Declares the `labels` relation of a resource. */
export const labeled = (type: string) =>
  manyToMany('label', { table: `${type}_labels`, sourceColumn: `${type}_id` });

/**
 * Returns the label relation of a resource.
 *
 * @throws Error for a resource without labels, which is a programming error
 */
export function labelLinkOf({ type, relations }: ResourceDefinition): ManyToMany {
  const relation = relations.labels;
  if (relation?.kind !== 'many-to-many') throw new Error(`${type} has no labels`);
  return relation;
}

/** Maximum number of labels in a summary. `count` includes all labels. */
const SUMMARY_LIMIT = 10;

export interface LabelSummary {
  count: number;
  results: { id: number; name: string }[];
}

/** Schema of `summary_fields.labels`. */
export const LABEL_SUMMARY = json.object({
  count: json.INTEGER,
  results: json.list(json.object({ id: json.INTEGER, name: json.STRING })),
});

/** Returns `summary_fields.labels` of objects of one type, with one statement. */
export async function labelSummaries(
  definition: ResourceDefinition,
  ids: readonly number[],
  { batch }: Pick<RepresentContext, 'batch'>,
): Promise<Map<number, LabelSummary>> {
  const query = attachedLabels(labelLinkOf(definition), ids, SUMMARY_LIMIT);
  const summaries = new Map<number, LabelSummary>(ids.map((id) => [id, { count: 0, results: [] }]));
  for (const { owner_id: owner, id, name, total } of await batch.rows<AttachedLabel>(query)) {
    const summary = entryOf(summaries, owner);
    summary.count = total;
    summary.results.push({ id, name });
  }
  return summaries;
}
