import { Forbidden, NotFound } from '../errors/errors.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';

/**
 * Returns the row if its permission columns (`may_read`, `may_act`) allow the access.
 *
 * @param refusal error text for a caller who can read the object but lacks the action
 * @throws NotFound if there is no row, Forbidden otherwise (docs/contract/conventions.md#readable-or-not)
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
