import type { ApiQueryOptions } from '@nestjs/swagger';
import type { Field } from '../fields/field.js';
import type { RouteInfo } from '../rest/route.js';
import { fieldSchema } from './schemas.js';
import { BOOLEAN, INTEGER, STRING, type JsonSchema } from '../fields/json-schema.js';

const writableOf = (info: RouteInfo): readonly Field[] =>
  (info.body ?? []).filter((field) => !field.readOnly && !field.internal);

/** JSON schema of what a route accepts. */
export function bodySchema(info: RouteInfo): JsonSchema {
  const writable = writableOf(info);
  const properties: Record<string, JsonSchema> = Object.fromEntries(
    writable.map((field) => [field.name, writtenSchema(field)]),
  );
  if (info.attach) {
    properties.id = { ...INTEGER, description: 'Object to attach.' };
    properties.disassociate = { ...BOOLEAN, description: 'Detach it instead.' };
  }
  const required = writable.filter((field) => field.required).map((field) => field.name);
  const isPartial = info.kind === 'modify' || info.attach;
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && !isPartial ? { required } : {}),
    ...(info.body?.length === 0 && !info.attach ? { additionalProperties: true } : {}),
    examples: [info.example ?? exampleOf(info, writable)],
  };
}

function writtenSchema(field: Field): JsonSchema {
  const { default: value, required } = field;
  const schema = fieldSchema(field);
  return required || value === undefined || value === null ? schema : { ...schema, default: value };
}

/** The least that a request needs, in words a person can replace. */
function exampleOf(info: RouteInfo, writable: readonly Field[]): Record<string, unknown> {
  if (info.kind === 'associate') return { id: 1 };
  if (info.kind === 'modify') {
    const first = ['description', 'name'].find((name) =>
      writable.some((field) => field.name === name),
    );
    return first ? { [first]: `New ${first}` } : {};
  }
  return Object.fromEntries(
    writable
      .filter((field) => field.required || field.name === 'description')
      .map((field) => [field.name, exampleValue(field, info)]),
  );
}

function exampleValue(field: Field, { resource }: RouteInfo): unknown {
  if (field.choices.length > 0) return field.choices.find(([value]) => value !== '')?.[0];
  switch (field.kind) {
    case 'integer':
    case 'float':
    case 'reference':
      return field.min ?? 1;
    case 'boolean':
      return true;
    case 'datetime':
      return '2030-01-31T12:00:00Z';
    case 'json':
      return field.default ?? {};
    default:
      return field.name === 'name'
        ? `Example ${resource?.label.toLowerCase() ?? 'object'}`
        : 'text';
  }
}

/** Query parameters of a list. */
export function listParameters(info: RouteInfo): ApiQueryOptions[] {
  const parameter = (name: string, schema: JsonSchema, description: string): ApiQueryOptions => ({
    name,
    required: false,
    description,
    schema: schema as never,
  });
  return [
    parameter('page', STRING, 'Page number, or `last`.'),
    parameter('page_size', INTEGER, 'Items per page; capped.'),
    parameter('after', STRING, 'Place in the list, as a `next` link gives it.'),
    parameter('count_disabled', BOOLEAN, 'Leaves the total count out.'),
    parameter('order_by', STRING, 'Comma-separated fields; a leading minus means descending.'),
    parameter('search', STRING, 'Words that must occur.'),
    ...(info.events ? [parameter('limit', INTEGER, 'First results only, without paging.')] : []),
    FILTERS,
  ];
}

/** Filters are named by fields and lookups; a document cannot list them all. */
const FILTERS = {
  name: 'filters',
  required: false,
  description:
    'Any field, also of related objects, with an optional lookup: `name__icontains=web`, ' +
    '`organization__name=Default`, `status__in=failed,error`; `not__` and `or__` in front.',
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
} as unknown as ApiQueryOptions;
