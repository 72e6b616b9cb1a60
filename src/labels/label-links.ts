import type { ResourceDefinition } from '../common/resource/define-resource.js';
import { resource, resources } from '../common/resource/registry.js';
import type { Link } from '../common/resource/select-rows.js';

/** Declares the `labels` relation of a resource. */
export const labelled = (type: string): Link => ({
  kind: 'many-to-many',
  target: () => resource('label'),
  table: `${type}_labels`,
  near: `${type}_id`,
  far: 'label_id',
});

/**
 * Returns the label relation of a resource.
 *
 * @throws Error for a resource without labels, which is a programming error
 */
export function labelLinkOf({ type, relations }: ResourceDefinition): Link {
  const relation = relations.labels;
  if (relation?.kind !== 'many-to-many') throw new Error(`${type} has no labels`);
  return relation;
}

/** Returns the label relations of all resources, to find out if a label is in use. */
export const labelLinks = (): Link[] =>
  resources().flatMap(({ relations }) =>
    relations.labels?.kind === 'many-to-many' ? [relations.labels] : [],
  );
