import { Forbidden, NotFound } from '../errors/errors.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';

/**
 * The row that a statement found with a verdict (`may_read`, `may_act`), if the caller may have it.
 *
 * @param refusal what a caller who may read it but not do this is told
 * @throws NotFound where there is none, Forbidden
 * (docs/contract/conventions.md#readable-or-not)
 */
export function admitted<Found extends Row>(
  definition: ResourceDefinition,
  row: Found | null,
  refusal: string | undefined,
): Found {
  if (!row) throw noMatch(definition);
  if (row.may_read !== true) throw new Forbidden();
  if (row.may_act !== true) throw new Forbidden(refusal);
  return row;
}

export const noMatch = ({ label }: ResourceDefinition): NotFound =>
  new NotFound(`No ${label.replaceAll(' ', '')} matches the given query.`);
