import type { Field } from '../fields/field.js';
import { asBody } from '../http/body.js';
import { BadRequest } from '../errors/errors.js';
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
 * The request body a form stands for. A form cannot say null or nothing: what is emptied is null
 * where that is allowed, and a number, date, reference or document is left out otherwise. A checkbox is sent
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
    const value = valueOf(field, given);
    if (value !== undefined) body[name] = value;
  }
  return body;
}

/** One value of the body; undefined leaves the field out. */
function valueOf(field: Field | undefined, given: unknown): unknown {
  if (field && isList(field)) {
    const ids = [given].flat().filter((one) => one !== '');
    if (ids.length === 0 && field.nullable) return null;
    return ids.map((id) => (/^\d{1,10}$/.test(String(id)) ? Number(id) : id));
  }
  const value: unknown = field?.kind !== 'json' && Array.isArray(given) ? given.at(-1) : given;
  if (value !== '' || !field) return value;
  if (field.nullable) return null;
  return isLeftOut(field) ? undefined : value;
}

/** Several references, chosen in one control. */
export const isList = (field: Field): boolean => field.kind === 'json' && field.target !== null;

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
