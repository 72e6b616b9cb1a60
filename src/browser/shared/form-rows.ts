import { resultOr } from '../../common/errors/errors.js';
import { exactJson } from '../../common/exact-json.js';
import type { Field } from '../../common/fields/field.js';
import type { FormRows } from '../../common/fields/form-rows.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { isRecord, listOf } from '../../common/records.js';
import { SECRET_FIELD } from './browser-form.js';
import { errorList, formField, type FormField } from './form-fields.js';
import { attributes, hiddenInput, html, prose, type Html } from './html.js';

/** Number of empty entries in a form, also after each save. */
const NEW_ROWS = 3;
const REMOVE = '_remove';
/** Form field with the members of an entry that have no other form field, as JSON. */
const HIDDEN_MEMBERS = '_kept';

type Values = Readonly<Record<string, unknown>>;
type Rows = { field: Field; rows: FormRows };

/** Renders a group of inputs for each entry of a list, and for some empty entries. */
export function rowsField({ field, id, value, errors }: FormField, rows: FormRows): Html {
  const entries = listOf(value).filter(isRecord);
  const all = [...entries, ...Array.from({ length: NEW_ROWS }, (): Values => ({}))];
  return html`<fieldset class="span rows-of-form" id="${id}">
    <legend>${rows.label}s</legend>
    ${field.help && html`<p class="hint">${prose(field.help)}</p>`}
    ${errorList(errors, `${id}-errors`)}
    ${all.map((row, index) => {
      const isNew = index >= entries.length;
      const group = rowView({ field, rows }, row, { id, index, isNew });
      const isNext = index === entries.length;
      return isNew
        ? html`<details class="plain section" ${attributes({ open: isNext && index === 0 })}>
            <summary>${isNext ? 'Add' : 'Add another'} ${rows.label.toLowerCase()}</summary>
            ${group}
          </details>`
        : group;
    })}
  </fieldset>`;
}

interface RowPosition {
  id: string;
  index: number;
  isNew: boolean;
}

function rowView({ field, rows }: Rows, row: Values, { id, index, isNew }: RowPosition): Html {
  const prefix = `${field.name}.${index}.`;
  const hiddenMembers = hiddenMembersIn(row, rows);
  const inputs = rows.fields.map((member) => ({
    // An empty entry is omitted, so no input is required; the API validates the entries.
    field: { ...member, name: `${prefix}${member.name}`, required: false },
    id: `${id}-${index}-${member.name}`,
    value: asLines(row[member.name] ?? member.default, member),
    errors: [],
    secret: false,
  }));
  return html`<fieldset class="grid entry">
    <legend>${rows.label} ${index + 1}</legend>
    ${inputs.map(formField)} ${rows.secrets.map((name) => hiddenInput(SECRET_FIELD, prefix + name))}
    ${hiddenMembers !== null && hiddenInput(prefix + HIDDEN_MEMBERS, hiddenMembers)}
    ${
      !isNew &&
      html`<div class="field check">
        <input type="checkbox" value="true" id="${id}-${index}-remove" name="${prefix}${REMOVE}" />
        <label for="${id}-${index}-remove">Remove this ${rows.label.toLowerCase()}</label>
      </div>`
    }
  </fieldset>`;
}

/** Returns the members of an entry without a form field, as JSON; null if there are none. */
function hiddenMembersIn(row: Values, { fields }: FormRows): string | null {
  if (typeof row[HIDDEN_MEMBERS] === 'string') return row[HIDDEN_MEMBERS];
  const hasField = (name: string): boolean => fields.some((field) => field.name === name);
  const others = Object.entries(row).filter(([name]) => !hasField(name) && name !== REMOVE);
  return others.length > 0 ? exactJson(Object.fromEntries(others)) : null;
}

/** Returns lists as text with one value per line. */
const asLines = (value: unknown, { kind }: Field): unknown =>
  Array.isArray(value) && kind === 'text' ? value.join('\n') : value;

/** Returns the filled-in entries of a list in order; null if the form does not contain the list. */
export function rowsIn(values: Values, { field, rows }: Rows): Values[] | null {
  const byIndex = new Map<number, Record<string, unknown>>();
  for (const [name, sent] of Object.entries(values)) {
    const [list, index = '', member, ...rest] = name.split('.');
    if (list !== field.name || !/^\d{1,3}$/.test(index) || !member || rest.length > 0) continue;
    const value: unknown = Array.isArray(sent) ? sent.at(-1) : sent;
    byIndex.set(Number(index), { ...byIndex.get(Number(index)), [member]: value });
  }
  if (byIndex.size === 0) return null;
  return [...byIndex]
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row)
    .filter((row) => row[REMOVE] !== 'true' && rows.fields.some((part) => isEntered(part, row)));
}

/**
 * Returns true if the field is filled in. A choice and a boolean always have a value, so they do
 * not count.
 */
const isEntered = ({ kind, name }: Field, row: Values): boolean =>
  kind !== 'choice' && kind !== 'boolean' && (row[name] ?? '') !== '';

/** Returns the entries of a list in the format of the API. */
export const readRows = (filled: readonly Values[], { rows }: Rows): Record<string, unknown>[] =>
  filled.map((row) => {
    const members = rows.fields.flatMap(({ name, kind }) => {
      const value = row[name] ?? '';
      if (kind === 'boolean') return [[name, value === 'true'] as const];
      return value === '' ? [] : [[name, kind === 'integer' ? numberOf(value) : value] as const];
    });
    return rows.read({ ...hiddenMembersOf(row), ...Object.fromEntries(members) });
  });

/** Parses numbers; other texts stay as typed and fail validation. */
const numberOf = (value: unknown): unknown =>
  Number.isFinite(Number(value)) ? Number(value) : value;

/** Parses the members of an entry without a form field; ignores text that the form did not write. */
function hiddenMembersOf({ [HIDDEN_MEMBERS]: text }: Values): Values {
  const members = typeof text === 'string' && resultOr(() => parseJson(text), null);
  return isRecord(members) ? members : {};
}
