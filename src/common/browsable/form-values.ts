import type { Field } from '../fields/field.js';
import { asBody } from '../http/body.js';
import { BadRequest } from '../http/errors.js';
import { CSRF_FIELD } from '../http/csrf.js';
import type { Submission } from './browser-form.js';

const EMPTY_MEANS_NOTHING = new Set<Field['kind']>([
  'integer',
  'float',
  'datetime',
  'reference',
  'json',
]);

/**
 * The request body a form stands for. A form cannot say null or nothing: an emptied number, date,
 * reference or document is null where that is allowed and is left out otherwise. A checkbox is sent
 * after a hidden `false`, so of several values of a plain field the last counts.
 *
 * @throws BadRequest for a raw form whose text is no JSON object
 */
export function bodyOf(submission: Submission, fields: readonly Field[]): Record<string, unknown> {
  if (submission.raw !== null) return parseRaw(submission.raw);
  const body: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(submission.values)) {
    if (name === CSRF_FIELD) continue;
    const field = fields.find((one) => one.name === name);
    const value = field?.kind !== 'json' && Array.isArray(given) ? given.at(-1) : given;
    if (value === '' && field && isLeftOut(field)) {
      if (field.nullable) body[name] = null;
      continue;
    }
    body[name] = value;
  }
  return body;
}

const isLeftOut = (field: Field): boolean =>
  EMPTY_MEANS_NOTHING.has(field.kind) || (field.kind === 'choice' && !field.blank);

function parseRaw(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new BadRequest(`JSON parse error - ${(error as Error).message}`);
  }
  return asBody(value);
}
