/**
 * Compares responses with the OpenAPI document: the status, the type and every member of the body. Objects
 * are closed: a member without documentation is an error, so that the document is complete.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import type { JsonSchema, OpenApiDocument, Operation } from './openapi.js';

/** Received response. */
export interface ReceivedResponse {
  status: number;
  type: string;
  text: string;
}

/** Suffix of open schemas: a schema inside `allOf` must permit the members of the other schemas. */
const OPEN = 'Open';
/** Keywords whose values are not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples']);

export class ResponseCheck {
  /** Shared schemas are compiled once. Code that runs a few times is not optimized. */
  private readonly ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    addFormats.default(this.ajv);
    const schemas: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(components.schemas)) {
      schemas[name] = closed(schema);
      schemas[name + OPEN] = closed(schema, true);
    }
    this.ajv.addSchema({ $id: 'document', components: { schemas } });
  }

  /** Returns the difference between a response and the document, or null. */
  faultOf(operation: Operation, { status, type, text }: ReceivedResponse): string | null {
    const documented = operation.responses[status];
    if (!documented) return `status ${status} is not documented`;
    // The body of a redirection is for users and is not documented.
    if (status >= 300 && status < 400) return null;
    const [media] = type.split(';');
    const content = Object.entries(documented.content ?? {});
    if (content.length === 0) return text === '' ? null : `a body with ${status} is not documented`;
    const found = content.find(([name]) => name === media);
    if (!found) return `type ${media} is not documented for ${status}`;
    if (media !== 'application/json') return null;
    const validate = this.validator(found[1].schema ?? {});
    if (validate(JSON.parse(text))) return null;
    const errors = (validate.errors ?? []).slice(0, 3);
    return errors
      .map((error) => `${this.ajv.errorsText([error])} ${JSON.stringify(error.params)}`)
      .join('; ');
  }

  private validator(schema: JsonSchema): ValidateFunction {
    const key = JSON.stringify(schema);
    const validate = this.compiled.get(key) ?? this.ajv.compile(closed(schema) as object);
    this.compiled.set(key, validate);
    return validate;
  }
}

/** Returns the schema without additional members. `open` permits them at the top level. */
function closed(value: unknown, open = false): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item));
  if (value === null || typeof value !== 'object') return value;
  const schema = value as JsonSchema & { allOf?: JsonSchema[]; $ref?: string };
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => [key, VALUES.has(key) ? inner : closed(inner)]),
  );
  if (schema.$ref) copy.$ref = `document${schema.$ref}${open ? OPEN : ''}`;
  if (schema.allOf) copy.allOf = schema.allOf.map((part) => closed(part, true));
  // The keys of `properties` are names and not keywords.
  if (schema.properties) copy.properties = mapValues(schema.properties, closed);
  const isComposed = schema.allOf !== undefined || schema.properties !== undefined;
  if (isComposed && !open && !('additionalProperties' in schema))
    copy.unevaluatedProperties = false;
  return copy;
}

const mapValues = (
  values: Record<string, JsonSchema>,
  change: (schema: JsonSchema) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, schema]) => [name, change(schema)]));
