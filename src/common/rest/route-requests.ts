import type { ApiQueryOptions } from '@nestjs/swagger';
import { sentSchema } from '../fields/field-schema.js';
import type { Field } from '../fields/field.js';
import * as json from '../fields/json-schema.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import type { RouteInfo } from './route.js';
import { isWritable } from '../fields/reads.decorator.js';
import { append } from '../records.js';

const writableOf = (info: RouteInfo): readonly Field[] => (info.body ?? []).filter(isWritable);

/**
 * Returns the JSON schema of the body that a route accepts. The members are getters that are evaluated
 * when the OpenAPI document is built: fields can belong to resources that are not loaded when the route
 * is declared.
 */
export const bodySchema = (info: RouteInfo): JsonSchema => ({
  type: 'object',
  get properties() {
    return propertiesOf(info);
  },
  get required() {
    return requiredOf(info);
  },
  get allOf() {
    const groups = alternativesOf(info);
    return groups.length > 0 ? groups : undefined;
  },
  get additionalProperties() {
    return info.body?.length === 0 && !info.attach ? true : undefined;
  },
  get examples() {
    return [info.example ?? exampleOf(info, writableOf(info))];
  },
});

function propertiesOf(info: RouteInfo): JsonSchemas {
  const fields = writableOf(info).map((field) => [field.name, sentSchema(field)] as const);
  return { ...Object.fromEntries(fields), ...(info.attach ? ATTACHING : {}) };
}

const ATTACHING: JsonSchemas = {
  id: { ...json.INTEGER, minimum: 1, description: 'Object to attach.' },
  disassociate: { ...json.BOOLEAN, description: 'Detach the object instead.' },
};

function requiredOf(info: RouteInfo): readonly string[] | undefined {
  if (info.kind === 'modify' || info.attach) return undefined;
  const required = writableOf(info).filter((field) => field.required);
  return required.length > 0 ? required.map(({ name }) => name) : undefined;
}

/**
 * Returns a schema for each group of fields of which a create request must contain at least one. There is
 * no such group below a parent, because the URL can name the object of the group.
 */
function alternativesOf(info: RouteInfo): readonly JsonSchema[] {
  if (info.kind !== 'create' || info.parent) return [];
  return [...groupsOf(writableOf(info)).values()].map((fields) => ({
    anyOf: fields.map(({ name }) => ({
      required: [name],
      properties: { [name]: { not: { type: 'null' } } },
    })),
  }));
}

function groupsOf(fields: readonly Field[]): Map<string, Field[]> {
  const groups = new Map<string, Field[]>();
  for (const field of fields) {
    if (field.oneOf !== undefined) append(groups, field.oneOf, field);
  }
  return groups;
}

/** Returns a minimal valid request with placeholder texts that a reader can replace. */
function exampleOf(info: RouteInfo, writable: readonly Field[]): Record<string, unknown> {
  if (info.kind === 'associate') return { id: 1 };
  if (info.kind === 'modify') {
    const first = ['description', 'name'].find((name) =>
      writable.some((field) => field.name === name),
    );
    return first ? { [first]: `New ${first}` } : {};
  }
  const firstOfGroups = new Set([...groupsOf(writable).values()].flatMap(([first]) => first ?? []));
  return Object.fromEntries(
    writable
      .filter((field) => field.required || firstOfGroups.has(field) || field.name === 'description')
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

export const queryParameters = (info: RouteInfo): readonly ApiQueryOptions[] =>
  info.kind === 'list'
    ? listParameters(info)
    : (info.query ?? []).map((parameter) => ({ required: false, ...parameter }));

function listParameters(info: RouteInfo): ApiQueryOptions[] {
  const parameter = (name: string, schema: JsonSchema, description: string): ApiQueryOptions => ({
    name,
    required: false,
    description,
    schema,
  });
  return [
    parameter('page', json.STRING, 'Page number, or `last`.'),
    parameter('page_size', json.INTEGER, 'Items per page; capped.'),
    parameter('after', json.STRING, 'Cursor from a `next` link.'),
    parameter('count_disabled', json.BOOLEAN, 'Omits the total count.'),
    parameter('order_by', json.STRING, 'Comma-separated fields; a leading minus means descending.'),
    parameter('order', json.STRING, 'Alias of `order_by`.'),
    parameter('search', json.STRING, 'Words that must occur.'),
    parameter('type', json.STRING, 'Comma-separated object types, for lists of several types.'),
    parameter(
      'role_level',
      json.STRING,
      'Role that the caller holds on each object: `admin_role`.',
    ),
    ...(info.events
      ? [
          parameter('limit', json.INTEGER, 'First results only, without paging.'),
          parameter('no_truncate', json.BOOLEAN, 'Shows the whole output of each event.'),
        ]
      : []),
    FILTERS,
  ];
}

/** Filters are named by fields and lookups, which are too many to list in the document. */
const FILTERS: ApiQueryOptions = {
  name: 'filters',
  required: false,
  description:
    'Any field, also of related objects, with an optional lookup: `name__icontains=web`, ' +
    '`organization__name=Default`, `status__in=failed,error`; with the prefixes `not__` and `or__`.',
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
};
