import type { ApiResponseOptions } from '@nestjs/swagger';
import { anyOfSchemas, type JsonSchema } from '../fields/json-schema.js';
import { ref } from '../resource/resource-schema.js';
import type { RouteInfo } from './route.js';
import type { RouteLocation } from './route-location.js';

/** Content of an error response as a page, for routes that also return pages. */
const PAGE = { 'text/html': { schema: { type: 'string' } } };

/** Returns the error responses of a route. */
export function errorResponses(
  info: RouteInfo,
  { method, parameters }: RouteLocation,
): ApiResponseOptions[] {
  const isWrite = method !== 'GET';
  const hasBody = isWrite && method !== 'DELETE';
  // The only public routes that change data are login and logout, which reject wrong credentials or a wrong
  // CSRF token.
  const isChecked = info.access !== 'public' || isWrite;
  const isNegotiated = info.outsideApi !== true;
  const hasParameters = parameters.length > 0 || info.kind === 'list' || info.query !== undefined;
  const errors: [applies: boolean, status: number, description: string][] = [
    [isChecked && info.access !== 'signature', 401, 'Authentication required.'],
    [isChecked, 403, 'Insufficient permission.'],
    [isNegotiated || parameters.length > 0, 404, 'Not found.'],
    [isWrite, 405, 'Not possible in the present state.'],
    [isNegotiated, 406, 'No offered format is acceptable.'],
    [isWrite, 409, 'Conflict.'],
    [hasBody, 413, 'Body too large.'],
    [hasBody, 415, 'Unsupported content type.'],
    [true, 429, 'Too many requests.'],
    [true, 503, 'Temporarily unavailable.'],
  ];
  const pages = info.texts?.includes('text/html') ? PAGE : {};
  const error = (status: number, description: string, schema: JsonSchema): ApiResponseOptions => ({
    status,
    description,
    content: { 'application/json': { schema }, ...pages },
  });
  const conflicts = anyOfSchemas(ref('Detail'), ref('InUse'));
  const badRequests = anyOfSchemas(ref('Detail'), ref('FieldErrors'));
  return [
    ...(isWrite || hasParameters ? [error(400, 'Invalid request data.', badRequests)] : []),
    ...errors
      .filter(([applies]) => applies)
      .map(([, status, description]) =>
        error(status, description, status === 409 ? conflicts : ref('Detail')),
      ),
  ];
}
