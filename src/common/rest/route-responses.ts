import type { ApiResponseOptions } from '@nestjs/swagger';
import { existing } from '../invariants.js';
import { object, STRING, type JsonSchema } from '../fields/json-schema.js';
import { pageRef, resourceRef } from '../resource/resource-schema.js';
import type { RouteInfo } from './route.js';

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
  return adds ? { allOf: [resourceRef(definition), object(adds)] } : resourceRef(definition);
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
  for (const media of texts) content[media] = { schema: STRING };
  return { status, description, content };
}

type Content = Record<string, { schema: JsonSchema }>;
