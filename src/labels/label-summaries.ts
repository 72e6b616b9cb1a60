import { entryOf } from '../common/invariants.js';
import type { RepresentContext, ResourceDefinition } from '../common/resource/define-resource.js';
import { INTEGER, list, object, STRING } from '../common/fields/json-schema.js';
import { labelLinkOf } from './label-links.js';
import { LabelsRepository, type LabelOn } from './labels.repository.js';

/** Maximum number of labels in a summary. `count` includes all labels. */
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

/** Returns `summary_fields.labels` of objects of one type, with one statement. */
export async function labelSummaries(
  definition: ResourceDefinition,
  ids: readonly number[],
  { together, find }: Pick<RepresentContext, 'together' | 'find'>,
): Promise<Map<number, LabelSummary>> {
  const found = await together.ask<LabelOn>(
    find(LabelsRepository).firstOn(labelLinkOf(definition), ids, SHOWN),
  );
  const summaries = new Map<number, LabelSummary>(ids.map((id) => [id, { count: 0, results: [] }]));
  for (const { near: owner, id, name, total } of found) {
    const summary = entryOf(summaries, owner);
    summary.count = total;
    summary.results.push({ id, name });
  }
  return summaries;
}
