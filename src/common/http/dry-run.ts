import { BOOLEAN } from '../fields/json-schema.js';
import { toBoolean } from '../fields/lenient-reader.js';
import type { ApiRequest } from './request.js';

/** Returns true for a dry run (`?dry_run=1`), which reports the effects of a request without applying them. */
export function isDryRun({ query }: ApiRequest): boolean {
  return toBoolean([query.dry_run].flat().at(-1)) === true;
}

/** Query parameter of routes that support dry runs. */
export const DRY_RUN_PARAMETER = {
  name: 'dry_run',
  description: 'Validates the request and changes nothing.',
  schema: BOOLEAN,
} as const;
