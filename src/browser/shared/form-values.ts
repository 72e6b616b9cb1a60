import type { Field } from '../../common/fields/field.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { toBoolean, toJson } from '../../common/fields/lenient.js';
import { asBody } from '../../common/http/body.js';
import { parseSentVariables } from '../../common/fields/variables.js';
import { BadRequest } from '../../common/errors/errors.js';
import { CSRF_FIELD } from '../../common/http/csrf.js';
import { readRows, rowsIn } from './form-rows.js';
import type { Submission } from './browser-form.js';
import { messageOf } from '../../common/errors/message-of.js';
import { isIdText } from '../../common/resource/ids.js';

const EMPTY_MEANS_NOTHING = new Set<Field['kind']>([
  'integer',
  'float',
  'datetime',
  'reference',
  'json',
]);

/**
 * The request body a form stands for: the same as a program would send. What is emptied is null where
 * that is allowed, and a number, date, reference or document is left out otherwise. A checkbox is
 * sent after a hidden `false`, so of several values of a plain field the last counts. Documents are
 * read as the JSON they hold, and a field whose name has a dot is a member of the document before it:
 * `extra_vars.region` is the member `region` of `extra_vars`. The entries of a list that is asked for one
 * by one are `spec.0.variable` and so on.
 *
 * @throws BadRequest for a raw form whose text is no JSON object
 * @throws Invalid for a document that is no JSON
 */
export function formBodyOf(
  submission: Submission,
  fields: readonly Field[],
): Record<string, unknown> {
  if (submission.raw !== null) return parseRaw(submission.raw);
  const body: Record<string, unknown> = {};
  const members: [field: Field, value: unknown][] = [];
  for (const [name, given] of Object.entries(submission.values)) {
    if (name === CSRF_FIELD) continue;
    const field = fields.find((one) => one.name === name);
    if (!field && fields.some((one) => one.rows && name.startsWith(`${one.name}.`))) continue;
    const value = valueOf(field, given);
    if (value === undefined) continue;
    if (field && memberOf(field)) members.push([field, value]);
    else body[name] = value;
  }
  for (const field of fields) {
    const rows = field.rows && { field, rows: field.rows };
    const filled = rows && rowsIn(submission.values, rows);
    if (filled) body[field.name] = readRows(filled, rows);
  }
  for (const [field, value] of members) addMember(body, field, value);
  return body;
}

/** The document and the key that a field with a dot in its name stands for. */
function memberOf({ name }: Field): [document: string, key: string] | null {
  const dot = name.indexOf('.');
  return dot < 0 ? null : [name.slice(0, dot), name.slice(dot + 1)];
}

/** A member that is not filled in is not there; one typed into the document too is overruled. */
function addMember(body: Record<string, unknown>, field: Field, value: unknown): void {
  const place = memberOf(field);
  if (!place || value === null) return;
  const [document, key] = place;
  const present = documentOf(body[document]);
  // A document that cannot be read stays as it was typed: its own check says what is wrong with it.
  if (present) body[document] = { ...present, [key]: typed(field, value) };
}

function documentOf(value: unknown): Record<string, unknown> | null {
  if (typeof value === 'object') return { ...value };
  if (typeof value !== 'string') return {};
  try {
    return parseSentVariables(value);
  } catch {
    return null;
  }
}

/** A member has no check of its own that reads texts as numbers or booleans. */
function typed({ kind, target }: Field, value: unknown): unknown {
  if (kind === 'boolean') return toBoolean(value) ?? value;
  const isNumber = (kind === 'integer' || kind === 'float') && !target;
  if (!isNumber || typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** One value of the body; undefined leaves the field out. */
function valueOf(field: Field | undefined, given: unknown): unknown {
  if (field && isListField(field)) return listOf(field, given);
  const value: unknown = field?.kind !== 'json' && Array.isArray(given) ? given.at(-1) : given;
  if (!field || value !== '') return field?.kind === 'json' ? toJson(field, value) : value;
  if (field.nullable) return null;
  return isLeftOut(field) ? undefined : value;
}

function listOf(field: Field, given: unknown): unknown {
  const chosen = [given].flat().filter((one) => one !== '');
  if (chosen.length === 0 && field.nullable) return null;
  const target = field.target?.();
  if (!target) return chosen;
  return chosen.map((id) => (isIdText(target, String(id)) ? Number(id) : id));
}

/** Several references or words, chosen in one control. */
export const isListField = (field: Field): boolean =>
  field.kind === 'json' && (field.target !== null || field.choices.length > 0);

const isLeftOut = (field: Field): boolean =>
  EMPTY_MEANS_NOTHING.has(field.kind) || (field.kind === 'choice' && !field.blank);

function parseRaw(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : parseJson(text);
  } catch (error) {
    throw new BadRequest(`JSON parse error - ${messageOf(error)}`);
  }
  return asBody(value);
}
