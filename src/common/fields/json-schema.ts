/**
 * Words for the JSON schemas of answers, in the dialect of OpenAPI 3.1 (JSON Schema 2020-12):
 *
 *   object({ id: INTEGER, name: STRING, finished: orNull(INSTANT) }, ['finished'])
 */
export interface JsonSchema {
  readonly type?: string | string[];
  readonly properties?: JsonSchemas;
  readonly items?: JsonSchema;
  readonly anyOf?: JsonSchema[];
  readonly [word: string]: unknown;
}
export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

export const STRING: JsonSchema = { type: 'string' };
export const INTEGER: JsonSchema = { type: 'integer' };
/** Ids that pass 2^31: clients keep them in 64 bits, or as JavaScript keeps numbers. */
export const WIDE_INTEGER: JsonSchema = { type: 'integer', format: 'int64' };
/** Whole numbers as a column of a PostgreSQL type holds them. */
export const integerOf = (columnType: string): JsonSchema =>
  columnType === 'bigint' ? WIDE_INTEGER : INTEGER;
export const NUMBER: JsonSchema = { type: 'number' };
export const BOOLEAN: JsonSchema = { type: 'boolean' };
export const INSTANT: JsonSchema = { type: 'string', format: 'date-time' };

const NULL = { type: 'null' } as const;

/** The value, or null. What has no type of its own, such as a reference, gets null beside it. */
export const orNull = (schema: JsonSchema): JsonSchema =>
  schema.type === undefined
    ? anyOf(schema, NULL)
    : { ...schema, type: [schema.type, NULL.type].flat() };

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/** An object with these members and no others. @param optional members that may be absent */
export function object(properties: JsonSchemas, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** An object with these members, of which any may be absent. */
export const partial = (properties: JsonSchemas): JsonSchema => ({ type: 'object', properties });

export const anyOf = (...schemas: JsonSchema[]): JsonSchema => ({ anyOf: schemas });

/** An object whose members have names of their own and values of one kind. */
export const mapOf = (values: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: values,
});

/** A JSON object whose members people or playbooks decide. */
export const freeObject = (description: string): JsonSchema => ({
  type: 'object',
  additionalProperties: true,
  description,
});

/** Any JSON value. */
export const anyValue = (description: string): JsonSchema => ({ description });
