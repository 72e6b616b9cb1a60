import type { ApiResponseOptions } from '@nestjs/swagger';
import { existing } from '../invariants.js';
import * as json from '../fields/json-schema.js';
import type { JsonSchema } from '../fields/json-schema.js';
import { pageRef, resourceRef, ref } from '../resource/resource-schema.js';
import type { RouteInfo } from './route.js';
import type { RouteLocation } from './route-location.js';

/** Returns the OpenAPI descriptions of a route's successful responses. */
export function successResponses(info: RouteInfo): ApiResponseOptions[] {
  const { summary, attach, alternatives = [] } = info;
  const status = successStatus(info);
  const hasBody = status !== 204 && hasResponseBody(info);
  return [
    describeResponse(info, status, summary, hasBody ? () => bodyOf(info) : null),
    ...alternatives.map(({ status: alternativeStatus, description, response }) =>
      describeResponse(info, alternativeStatus, description, response ? () => response : null),
    ),
    ...(attach && status !== 204 ? [{ status: 204, description: 'Attached or detached.' }] : []),
    ...(info.redirects ? [{ status: 302, description: 'Redirect.' }] : []),
  ];
}

/** Returns the success status of a route: the declared status, or the status of the route's kind. */
export function successStatus({ status, kind }: RouteInfo): number {
  if (status !== undefined) return status;
  if (kind === 'create') return 201;
  return kind === 'destroy' || kind === 'associate' ? 204 : 200;
}

/**
 * Returns true if the response has a body. The body's schema is not read, because its resource may not
 * be loaded yet.
 */
const hasResponseBody = (info: RouteInfo): boolean =>
  info.response !== undefined ||
  ('resource' in info && info.kind !== 'destroy' && info.kind !== 'associate');

function bodyOf({ response, resource, kind, adds }: RouteInfo): JsonSchema {
  if (response) return response;
  const definition = existing(resource, 'a route without a response schema has a resource');
  if (kind === 'list') return pageRef(definition);
  return adds ? { allOf: [resourceRef(definition), json.object(adds)] } : resourceRef(definition);
}

/** Describes a response whose schema is built when the OpenAPI document is built. */
function describeResponse(
  { produces = 'application/json', texts = [] }: RouteInfo,
  status: number,
  description: string,
  schema: (() => JsonSchema) | null,
): ApiResponseOptions {
  if (!schema) return { status, description };
  const content: Content = {
    [produces]: {
      get schema() {
        return schema();
      },
    },
  };
  for (const media of texts) content[media] = { schema: json.STRING };
  return { status, description, content };
}

type Content = Record<string, { schema: JsonSchema }>;

/** Content of an error response as a page, for routes that also return pages. */
const PAGE = { 'text/html': { schema: { type: 'string' } } };

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
    [isWrite, 405, 'Not possible in the current state.'],
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
  const conflicts = json.anyOfSchemas(ref('Detail'), ref('InUse'));
  const badRequests = json.anyOfSchemas(ref('Detail'), ref('FieldErrors'));
  return [
    ...(isWrite || hasParameters ? [error(400, 'Invalid request data.', badRequests)] : []),
    ...errors
      .filter(([applies]) => applies)
      .map(([, status, description]) =>
        error(status, description, status === 409 ? conflicts : ref('Detail')),
      ),
  ];
}
