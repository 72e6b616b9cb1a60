import type { Field } from '../../common/fields/field.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { toBoolean, toJson } from '../../common/fields/lenient-reader.js';
import { asBody } from '../../common/http/body.js';
import { parseSentVariables } from '../../common/fields/variables.js';
import { BadRequest, messageOf, resultOr } from '../../common/errors/errors.js';
import { CSRF_FIELD } from '../../common/http/csrf.js';
import { isRecord } from '../../common/records.js';
import { readRows, rowsIn } from './form-rows.js';
import type { Submission } from './browser-form.js';
import { isIdText } from '../../common/resource/ids.js';

const OMITTED_IF_EMPTY = new Set<Field['kind']>([
  'integer',
  'float',
  'datetime',
  'reference',
  'json',
]);

/**
 * Returns the request body of a form. An empty value is null if the field is nullable; an empty number,
 * date, reference or document is omitted otherwise, and so is an empty choice that must not be blank. A
 * checkbox follows a hidden `false`, so the last value of a plain field counts. Documents are parsed as
 * JSON. A name with a dot is a member of a document: `extra_vars.region` is the member `region` of
 * `extra_vars`. Entries of a list have names such as `spec.0.variable`.
 *
 * @throws BadRequest for a raw form whose text is not a JSON object
 * @throws Invalid for a document that is not JSON
 */
export function formBodyOf(
  submission: Submission,
  fields: readonly Field[],
): Record<string, unknown> {
  if (submission.raw !== null) return parseRaw(submission.raw);
  const body: Record<string, unknown> = {};
  const members: [field: Field, value: unknown][] = [];
  for (const [name, sent] of Object.entries(submission.values)) {
    if (name === CSRF_FIELD) continue;
    const field = fields.find((declared) => declared.name === name);
    if (!field && fields.some((list) => list.rows && name.startsWith(`${list.name}.`))) continue;
    const value = valueOf(field, sent);
    if (value === undefined) continue;
    if (field && documentMember(field)) members.push([field, value]);
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

/** Returns the values of the fields that replace a document in a form. */
export const documentValues = (document: string, value: unknown): Record<string, unknown> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, member]) => [`${document}.${key}`, member]),
      )
    : {};

/** Returns the document and the key of a field with a dot in its name. */
function documentMember({ name }: Field): [document: string, key: string] | null {
  const dot = name.indexOf('.');
  return dot < 0 ? null : [name.slice(0, dot), name.slice(dot + 1)];
}

/** Adds a member to its document, or replaces a member with the same name; omits an empty member. */
function addMember(body: Record<string, unknown>, field: Field, value: unknown): void {
  const member = documentMember(field);
  if (!member || value === null) return;
  const [document, key] = member;
  const current = documentOf(body[document]);
  // An unparsable document stays as entered; its own validation reports the error.
  if (current) body[document] = { ...current, [key]: typedValue(field, value) };
}

function documentOf(value: unknown): Record<string, unknown> | null {
  if (typeof value === 'object') return { ...value };
  if (typeof value !== 'string') return {};
  return resultOr(() => parseSentVariables(value), null);
}

/** Parses numbers and booleans, because the validation of members does not convert texts. */
function typedValue({ kind, target }: Field, value: unknown): unknown {
  if (kind === 'boolean') return toBoolean(value) ?? value;
  const isNumber = (kind === 'integer' || kind === 'float') && !target;
  if (!isNumber || typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** Returns the value for the body; undefined to omit the field. */
function valueOf(field: Field | undefined, sent: unknown): unknown {
  if (field && isListField(field)) return listValue(field, sent);
  const value: unknown = field?.kind !== 'json' && Array.isArray(sent) ? sent.at(-1) : sent;
  if (!field || value !== '') return field?.kind === 'json' ? toJson(field, value) : value;
  if (field.nullable) return null;
  return isOmitted(field) ? undefined : value;
}

function listValue(field: Field, sent: unknown): unknown {
  const chosen = [sent].flat().filter((value) => value !== '');
  if (chosen.length === 0 && field.nullable) return null;
  const target = field.target?.();
  if (!target) return chosen;
  return chosen.map((id) => (isIdText(target, String(id)) ? Number(id) : id));
}

/** Returns true for a field with several references or choices in one control. */
export const isListField = (field: Field): boolean =>
  field.kind === 'json' && (field.target !== null || field.choices.length > 0);

const isOmitted = (field: Field): boolean =>
  OMITTED_IF_EMPTY.has(field.kind) || (field.kind === 'choice' && !field.blank);

function parseRaw(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : parseJson(text);
  } catch (error) {
    throw new BadRequest(`JSON parse error - ${messageOf(error)}`);
  }
  return asBody(value);
}
