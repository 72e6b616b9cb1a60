import { targetOf, type Field } from '../fields/field.js';
import { fieldSchema } from '../fields/field-schema.js';
import type { ResourceDefinition } from './define-resource.js';
import { idType } from './ids.js';
import { linksOf } from './links.js';
import { mapValues, tableOf } from '../records.js';
import * as json from '../fields/json-schema.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';

const componentName = (definition: ResourceDefinition): string =>
  definition.label.replaceAll(' ', '');

export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Returns a reference to the schema of a representation. */
export const resourceRef = (definition: ResourceDefinition): JsonSchema =>
  ref(componentName(definition));

export const pageRef = (definition: ResourceDefinition): JsonSchema =>
  ref(`${componentName(definition)}Page`);

const TYPE = json.described(json.STRING, 'Kind of this object.');

const isShown = (field: Field): boolean =>
  !field.internal && !field.hidden && !field.writeOnly && field.name !== 'id';

const referenceFields = ({ fields }: ResourceDefinition): readonly Field[] =>
  fields.filter((field) => field.target && field.column !== null && !field.internal);

/** Returns the schema of a representation, as `represent` builds it from a row. */
function resourceSchema(definition: ResourceDefinition): JsonSchema {
  if (definition.variants) {
    return json.anyOfSchemas(...definition.variants().map(resourceRef));
  }
  const shown = definition.fields.filter(isShown);
  const detailOnly = shown.filter((field) => field.detailOnly).map(({ name }) => name);
  const optional = [...detailOnly, ...(definition.shows.optional ?? [])];
  const properties = {
    id: { ...json.integerOf(idType(definition)), description: 'Database id of this object.' },
    type: { ...TYPE, const: definition.type },
    url: { ...json.STRING, description: 'Path of this object.' },
    related: relatedSchema(definition),
    summary_fields: summaryFieldsSchema(definition),
    ...Object.fromEntries(shown.map((field) => [field.name, fieldSchema(field)])),
    ...describedBy(definition, definition.shows.fields ?? {}),
  };
  return json.object(properties, optional);
}

/** Adds the descriptions of the fields that other schemas replace. */
const describedBy = (definition: ResourceDefinition, schemas: JsonSchemas): JsonSchemas =>
  mapValues(schemas, (schema, name) => {
    const help = definition.field(name)?.help;
    return help ? { description: help, ...schema } : schema;
  });

function relatedSchema(definition: ResourceDefinition): JsonSchema {
  const names = [
    ...referenceFields(definition).map(({ name }) => name),
    ...linksOf(definition).keys(),
    ...(definition.shows.related ?? []),
    ...(definition.naturalKey.length > 0 ? ['named_url'] : []),
  ];
  return {
    ...json.partial(Object.fromEntries(names.map((name) => [name, json.STRING]))),
    ...othersOf(definition.shows.relatedOthers),
    description: 'Paths of related objects and lists.',
  };
}

function summaryFieldsSchema(definition: ResourceDefinition): JsonSchema {
  const entries: [name: string, schema: JsonSchema][] = [];
  for (const field of referenceFields(definition)) {
    const key = definition.summaryKeys[field.name];
    if (key === null) continue;
    entries.push([key ?? field.name, ref(`${componentName(targetOf(field))}Summary`)]);
  }
  const roles = definition.roles.map(({ field }) => [field, ref('ObjectRole')] as const);
  if (roles.length > 0) entries.push(['object_roles', json.partial(Object.fromEntries(roles))]);
  const flags = Object.keys(definition.capabilities).map((name) => [name, json.BOOLEAN] as const);
  if (flags.length > 0)
    entries.push(['user_capabilities', json.partial(Object.fromEntries(flags))]);
  return {
    ...json.partial({ ...Object.fromEntries(entries), ...definition.shows.summary_fields }),
    ...othersOf(definition.shows.summaryOthers),
    description: 'Summaries of related objects, limited to what the caller can read.',
  };
}

const othersOf = (schema: JsonSchema | undefined): JsonSchema =>
  schema ? { additionalProperties: schema } : {};

/** Returns the schema of a resource's summary in other resources. Members that are null are omitted. */
function summarySchema(definition: ResourceDefinition): JsonSchema {
  const properties = tableOf(definition.summary, (name) => {
    // A name that is neither a field nor a column is the type of an object in a shared table.
    const field = definition.field(name) ?? definition.fields.find(({ column }) => column === name);
    return field ? fieldSchema({ ...field, nullable: false }) : TYPE;
  });
  const additions = definition.shows.summary ?? {};
  const all = { ...properties, ...describedBy(definition, additions) };
  return json.object(
    all,
    Object.keys(all).filter((name) => name !== 'id'),
  );
}

const pageSchema = (definition: ResourceDefinition): JsonSchema =>
  json.object(
    {
      count: { ...json.INTEGER, description: 'Total of all pages; omitted with count_disabled.' },
      next: json.orNull({ ...json.STRING, description: 'Path of the next page.' }),
      previous: json.orNull({ ...json.STRING, description: 'Path of the previous page.' }),
      results: { ...json.list(resourceRef(definition)), description: 'Objects of this page.' },
    },
    // An event list with `limit` contains only results.
    ['count', 'next', 'previous'],
  );

const SHARED: Record<string, JsonSchema> = {
  InUse: json.object({
    detail: { ...json.STRING, description: 'Description of the error, in a sentence.' },
    error: { ...json.STRING, description: 'Description of the error, for existing clients.' },
    active_jobs: {
      ...json.list(json.object({ id: json.INTEGER, type: json.STRING })),
      description: 'Up to 100 active runs that use the object. Cancel the runs, then delete again.',
    },
  }),
  Detail: json.object(
    {
      detail: { ...json.STRING, description: 'Description of the error, in a sentence.' },
      error: { ...json.STRING, description: 'Same text as `detail`, for existing clients.' },
    },
    ['error'],
  ),
  FieldErrors: {
    ...json.mapOf(
      json.anyOfSchemas(json.list(json.STRING), ref('FieldErrors'), json.list(ref('FieldErrors'))),
    ),
    description:
      'Errors by field; errors of list entries by position or field; `__all__` for errors of several fields.',
  },
  ObjectRole: json.object(
    {
      id: { ...json.INTEGER, description: 'Database id of the role.' },
      name: { ...json.STRING, description: 'Name of the role.' },
      description: { ...json.STRING, description: 'Permissions that the role grants.' },
      user_only: { ...json.BOOLEAN, description: 'If true, the role cannot be granted to teams.' },
    },
    ['user_only'],
  ),
};

export function componentSchemas(
  definitions: readonly ResourceDefinition[],
): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = { ...SHARED };
  for (const definition of definitions) {
    const name = componentName(definition);
    schemas[name] = resourceSchema(definition);
    schemas[`${name}Summary`] = summarySchema(definition);
    schemas[`${name}Page`] = pageSchema(definition);
  }
  return schemas;
}
