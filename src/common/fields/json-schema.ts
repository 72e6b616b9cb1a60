/**
 * JSON schema in the dialect of OpenAPI 3.1 (JSON Schema 2020-12), composed of the parts of this module, which is
 * imported as `json`:
 *
 *   json.object({ id: json.INTEGER, finished: json.orNull(json.INSTANT) }, ['finished'])
 */
export interface JsonSchema {
  readonly type?: string | string[];
  readonly properties?: JsonSchemas;
  readonly items?: JsonSchema;
  readonly anyOf?: JsonSchema[];
  readonly [keyword: string]: unknown;
}
export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

export const STRING: JsonSchema = { type: 'string' };
export const INTEGER: JsonSchema = { type: 'integer' };
/** Id that can exceed 2^31. Clients must store the id as a 64-bit integer or as a JavaScript number. */
export const WIDE_INTEGER: JsonSchema = { type: 'integer', format: 'int64' };
/** Returns the schema of integers in a column of a PostgreSQL type. */
export const integerOf = (columnType: string): JsonSchema =>
  columnType === 'bigint' ? WIDE_INTEGER : INTEGER;
export const NUMBER: JsonSchema = { type: 'number' };
export const BOOLEAN: JsonSchema = { type: 'boolean' };
export const INSTANT: JsonSchema = { type: 'string', format: 'date-time' };

const NULL = { type: 'null' } as const;

/**
 * Returns a schema that also accepts null. A schema without a type, such as a reference, becomes an
 * `anyOf`.
 */
export const orNull = (schema: JsonSchema): JsonSchema =>
  schema.type === undefined
    ? anyOfSchemas(schema, NULL)
    : { ...schema, type: [schema.type, NULL.type].flat() };

export const described = (schema: JsonSchema, description: string): JsonSchema => ({
  ...schema,
  description,
});

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/**
 * Returns the schema of an object with these members.
 *
 * @param optional names of the members that can be absent
 */
export function object(properties: JsonSchemas, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** Returns the schema of an object whose members are all optional. */
export const partial = (properties: JsonSchemas): JsonSchema => ({ type: 'object', properties });

export const anyOfSchemas = (...schemas: JsonSchema[]): JsonSchema => ({ anyOf: schemas });

/** Returns the schema of an object with arbitrary names and values of one schema. */
export const mapOf = (values: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: values,
});

/** Returns the schema of an object whose members are defined by users or playbooks. */
export const freeObject = (description: string): JsonSchema => ({
  type: 'object',
  additionalProperties: true,
  description,
});

/** Returns the schema of any JSON value. */
export const anyValue = (description: string): JsonSchema => ({ description });
