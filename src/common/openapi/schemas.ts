import type { ApiQueryOptions, ApiResponseOptions } from '@nestjs/swagger';
import type { Field } from '../fields/field.js';
import type { RouteInfo } from '../http/route.js';
import type { ResourceDefinition } from '../resource/define-resource.js';

type JsonSchema = Record<string, unknown>;

const componentName = (definition: ResourceDefinition): string =>
  definition.label.replaceAll(' ', '');

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const resourceSchemaRef = (definition: ResourceDefinition, list: boolean): JsonSchema =>
  ref(list ? `${componentName(definition)}Page` : componentName(definition));

/** One field as a JSON schema. */
export function fieldSchema(field: Field): JsonSchema {
  const base: JsonSchema = { ...typeOf(field) };
  if (field.help) base.description = field.help;
  if (field.choices.length > 0) {
    const values = field.choices.map(([value]) => value);
    base.enum = field.nullable ? [...values, null] : values;
  }
  if (field.max !== null) base[field.kind === 'integer' ? 'maximum' : 'maxLength'] = field.max;
  if (field.min !== null && field.kind === 'integer') base.minimum = field.min;
  if (field.nullable) base.nullable = true;
  if (field.readOnly) base.readOnly = true;
  if (field.writeOnly) base.writeOnly = true;
  return base;
}

function typeOf(field: Field): JsonSchema {
  switch (field.kind) {
    case 'integer':
    case 'reference':
      return { type: 'integer' };
    case 'float':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'datetime':
      return { type: 'string', format: 'date-time' };
    case 'email':
      return { type: 'string' };
    case 'json':
      return Array.isArray(field.default)
        ? { type: 'array', items: {} }
        : { type: 'object', additionalProperties: true };
    default:
      return { type: 'string' };
  }
}

/** The representation of a resource. */
function resourceSchema(definition: ResourceDefinition): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    id: { type: 'integer', readOnly: true },
    type: { type: 'string', enum: [definition.type], readOnly: true },
    url: { type: 'string', readOnly: true, description: 'Path of this object.' },
    related: { type: 'object', additionalProperties: { type: 'string' }, readOnly: true },
    summary_fields: { type: 'object', additionalProperties: true, readOnly: true },
  };
  for (const field of definition.fields) {
    if (!field.internal && !field.hidden && field.name !== 'id') {
      properties[field.name] = fieldSchema(field);
    }
  }
  return {
    type: 'object',
    properties,
    required: ['id', 'type', 'url', 'related', 'summary_fields'],
    additionalProperties: true,
  };
}

function pageSchema(definition: ResourceDefinition): JsonSchema {
  const item = definition.variants
    ? { anyOf: definition.variants().map((variant) => ref(componentName(variant))) }
    : ref(componentName(definition));
  return {
    type: 'object',
    properties: {
      count: { type: 'integer', description: 'Total of all pages; omitted with count_disabled.' },
      next: { type: 'string', nullable: true },
      previous: { type: 'string', nullable: true },
      results: { type: 'array', items: item },
    },
    required: ['results'],
  };
}

/** Component schemas of every resource, by name. */
export function componentSchemas(
  definitions: readonly ResourceDefinition[],
): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {
    Detail: {
      type: 'object',
      properties: { detail: { type: 'string' } },
      required: ['detail'],
    },
    FieldErrors: {
      type: 'object',
      description: 'Field name to messages; `__all__` for several fields together.',
      additionalProperties: true,
    },
  };
  for (const definition of definitions) {
    schemas[componentName(definition)] = resourceSchema(definition);
    schemas[`${componentName(definition)}Page`] = pageSchema(definition);
  }
  return schemas;
}

/** JSON schema of what a route accepts. */
export function bodySchema(info: RouteInfo): JsonSchema {
  const writable = (info.body ?? []).filter((field) => !field.readOnly && !field.internal);
  const properties = Object.fromEntries(writable.map((field) => [field.name, fieldSchema(field)]));
  const required = writable.filter((field) => field.required).map((field) => field.name);
  if (info.attach) {
    properties.id = { type: 'integer', description: 'Object to attach.' };
    properties.disassociate = { type: 'boolean', description: 'Detach it instead.' };
  }
  const partial = info.kind === 'modify' || info.attach;
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && !partial ? { required } : {}),
  };
}

const detail = (status: number, description: string): ApiResponseOptions => ({
  status,
  description,
  schema: ref('Detail') as never,
});

/** The errors a route can answer with (seed, Errors). */
export function errorResponses(
  info: RouteInfo,
  { method, pattern }: { method: string; pattern: string },
): ApiResponseOptions[] {
  const writes = method !== 'GET';
  const sends = writes && method !== 'DELETE';
  // A public route that changes something is the login: it has credentials and a CSRF token to refuse.
  const verifies = info.access !== 'public' || writes;
  const negotiates = pattern.startsWith('/api');
  const reads = pattern.includes(':') || info.kind === 'list' || info.query !== undefined;
  const errors: [applies: boolean, status: number, description: string][] = [
    [verifies && info.access !== 'signature', 401, 'Authentication required.'],
    [verifies, 403, 'Insufficient permission.'],
    [negotiates, 404, 'Not found.'],
    [writes, 405, 'Not possible in the present state.'],
    [negotiates, 406, 'No offered format is acceptable.'],
    [writes, 409, 'Conflict.'],
    [sends, 413, 'Body too large.'],
    [sends, 415, 'Unsupported content type.'],
    [true, 429, 'Too many requests.'],
    [true, 503, 'Temporarily unavailable.'],
  ];
  const schema = { anyOf: [ref('FieldErrors'), ref('Detail')] } as never;
  return [
    ...(writes || reads ? [{ status: 400, description: 'Invalid request data.', schema }] : []),
    ...errors
      .filter(([applies]) => applies)
      .map(([, status, description]) => detail(status, description)),
  ];
}

/** Query parameters of a list. */
export function LIST_PARAMETERS(info: RouteInfo): ApiQueryOptions[] {
  const parameter = (name: string, type: string, description: string): ApiQueryOptions => ({
    name,
    required: false,
    description,
    schema: { type } as never,
  });
  return [
    parameter('page', 'string', 'Page number, or `last`.'),
    parameter('page_size', 'integer', 'Items per page; capped.'),
    parameter('after', 'string', 'Place in the list, as a `next` link gives it.'),
    parameter('count_disabled', 'boolean', 'Leaves the total count out.'),
    parameter('order_by', 'string', 'Comma-separated fields; a leading minus means descending.'),
    parameter('search', 'string', 'Words that must occur.'),
    ...(info.events ? [parameter('limit', 'integer', 'First results only, without paging.')] : []),
  ];
}
