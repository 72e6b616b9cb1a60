/**
 * The two body readers agree: the libraries, which read bodies of hand-written routes, and the reader
 * compiled from their metadata, which reads bodies of resources.
 */
import fc from 'fast-check';

import '../../src/app.module.js';
import { Invalid } from '../../src/common/errors/errors.js';
import { fieldsOf, type Field } from '../../src/common/fields/field.js';
import { readBody } from '../../src/common/fields/read-body.js';
import { isWritable } from '../../src/common/fields/reads.decorator.js';
import { validate } from '../../src/common/fields/validation.js';
import { resources } from '../../src/common/resource/define-resource.js';
import { BulkJob, BulkLaunchRequest } from '../../src/bulk/bulk-job.dto.js';
import { BulkHostEntry } from '../../src/bulk/bulk-host-entry.dto.js';
import { PromptsBody } from '../../src/prompts/launch-body.js';

const schemas = [
  ...new Set([
    ...resources().map(({ entity }) => entity),
    PromptsBody,
    BulkLaunchRequest,
    BulkJob,
    BulkHostEntry,
  ]),
];

/** Unusual values, and values that would break a reader that trusts names sent by clients. */
const ODD = [
  ...[null, true, '', ' ', 'a\0', '\ud800', '$value', '$property $constraint1', '{', '[]', 'null'],
  ...[{}, [], [1, '2', 2], ['x'], { constructor: 1 }, JSON.parse('{"__proto__": {"a": 1}}')],
  ...[
    '6',
    ' -7 ',
    '99999999999',
    1.5,
    1e300,
    0,
    'yes',
    'a: 1\nb: [x',
    'é'.repeat(600),
    '❤️'.repeat(300),
  ],
  ...['2026-02-28', '2026-02-30', '2026-01-31T12:00', 'admin@example.com', 'no@mail'],
];

function sent(field: Field): fc.Arbitrary<unknown> {
  const choices = field.choices.map(([value]) => value);
  return fc.oneof(
    fc.constantFrom(...ODD, ...choices, ...choices.map(String), field.default ?? null),
    fc.string(),
    fc.integer(),
    fc.jsonValue({ maxDepth: 2 }),
  );
}

/** Returns a valid value. */
function plain({ kind, choices, min, entries, default: value }: Field): unknown {
  if (choices.length > 0) return choices[0]?.[0];
  switch (kind) {
    case 'integer':
    case 'float':
    case 'reference':
      return min ?? 1;
    case 'boolean':
      return true;
    case 'datetime':
      return '2030-01-31T12:00:00Z';
    case 'email':
      return 'admin@example.com';
    case 'variables':
      return 'a: 1';
    case 'json':
      return entries ? [{}] : (value ?? {});
    default:
      return 'x';
  }
}

type Outcome = { values: object } | { errors: Record<string, unknown> };

function outcome(read: () => object): Outcome {
  try {
    return { values: { ...read() } };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    return { errors: error.errors };
  }
}

/** Returns the result with its values in the order of the fields, and the rest unchanged. */
function inOrder(found: Outcome, fields: readonly string[]): object {
  if ('errors' in found) return found;
  const values = Object.entries(found.values);
  const place = ([name]: [string, unknown]): number => fields.indexOf(name);
  return { values: Object.fromEntries(values.sort((one, other) => place(one) - place(other))) };
}

const ofThose = (record: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

it.each(schemas.map((schema) => [schema.name, schema] as const))('%s', (_, schema) => {
  const fields = fieldsOf(schema).filter(isWritable);
  if (fields.length === 0) return;
  const order = fields.map(({ name }) => name);
  const bodies = fc.record(Object.fromEntries(fields.map((field) => [field.name, sent(field)])), {
    requiredKeys: [],
  });
  fc.assert(
    fc.property(bodies, (body) => {
      const whole = outcome(() => readBody(schema as new () => object, body));
      const compiled = outcome(() => validate(schema, body));
      expect(compiled).toEqual(whole);
      // For a class that extends another derived class, the libraries start with the fields of the middle
      // class.
      expect(JSON.stringify(inOrder(compiled, order))).toBe(JSON.stringify(inOrder(whole, order)));

      const faulty = fields.filter(({ name }) => 'errors' in whole && name in whole.errors);
      const mended = {
        ...body,
        ...Object.fromEntries(faulty.map((one) => [one.name, plain(one)])),
      };
      expect(outcome(() => validate(schema, mended))).toEqual({
        values: { ...readBody(schema as new () => object, mended) },
      });

      const absent = fields.filter((one) => one.nullMeansAbsent && body[one.name] === null);
      const names = Object.keys(body).filter((name) => !absent.some((one) => one.name === name));
      const partial = outcome(() => validate(schema, body, { partial: true }));
      if ('errors' in partial) {
        expect('errors' in whole && ofThose(whole.errors, names)).toEqual(partial.errors);
      } else if ('values' in whole) {
        expect(ofThose(whole.values, names)).toEqual(partial.values);
      }
    }),
    { numRuns: 20 },
  );
});
