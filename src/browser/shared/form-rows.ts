import type { Field } from '../../common/fields/field.js';
import type { FormRows } from '../../common/fields/form-rows.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { isRecord, listOf } from '../../common/records.js';
import { SECRET_FIELD } from './browser-form.js';
import { errorList, formField, type FormField } from './form-fields.js';
import { attributes, html, type Html } from './html.js';

/** Number of empty entries in a form; after each save, the form has as many again. */
const NEW_ROWS = 3;
const REMOVE = '_remove';
/** Form field with the members of an entry that have no form field, as JSON; saving keeps them. */
const KEPT = '_kept';

type Values = Readonly<Record<string, unknown>>;
type Rows = { field: Field; rows: FormRows };

/** Renders a group of inputs for each entry of a list, and for some empty entries. */
export function rowsField({ field, id, value, errors }: FormField, rows: FormRows): Html {
  const entries = listOf(value).filter(isRecord);
  const all = [...entries, ...Array.from({ length: NEW_ROWS }, (): Values => ({}))];
  return html`<fieldset class="span rows-of-form" id="${id}">
    <legend>${rows.label}s</legend>
    ${field.help && html`<p class="hint">${field.help}</p>`} ${errorList(errors, `${id}-errors`)}
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

interface Place {
  id: string;
  index: number;
  isNew: boolean;
}

function rowView({ field, rows }: Rows, row: Values, { id, index, isNew }: Place): Html {
  const start = `${field.name}.${index}.`;
  const kept = keptIn(row, rows);
  const inputs = rows.fields.map((one) => ({
    // An empty entry is omitted, so no input is required; the API validates the entries.
    field: { ...one, name: `${start}${one.name}`, required: false },
    id: `${id}-${index}-${one.name}`,
    value: shown(row[one.name] ?? one.default, one),
    errors: [],
    secret: false,
  }));
  return html`<fieldset class="grid entry">
    <legend>${rows.label} ${index + 1}</legend>
    ${inputs.map(formField)}
    ${rows.secrets.map(
      (name) => html`<input type="hidden" name="${SECRET_FIELD}" value="${start}${name}" />`,
    )}
    ${kept !== null && html`<input type="hidden" name="${start}${KEPT}" value="${kept}" />`}
    ${
      !isNew &&
      html`<div class="field check">
        <input type="checkbox" value="true" id="${id}-${index}-remove" name="${start}${REMOVE}" />
        <label for="${id}-${index}-remove">Remove this ${rows.label.toLowerCase()}</label>
      </div>`
    }
  </fieldset>`;
}

/** Returns the members of an entry without a form field, as JSON; null if there are none. */
function keptIn(row: Values, { fields }: FormRows): string | null {
  if (typeof row[KEPT] === 'string') return row[KEPT];
  const hasField = (name: string): boolean => fields.some((one) => one.name === name);
  const others = Object.entries(row).filter(([name]) => !hasField(name) && name !== REMOVE);
  return others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : null;
}

/** Returns lists as text with one value per line. */
const shown = (value: unknown, { kind }: Field): unknown =>
  Array.isArray(value) && kind === 'text' ? value.join('\n') : value;

/** Returns the filled-in entries of a list in order; null if the form does not contain the list. */
export function rowsIn(values: Values, { field, rows }: Rows): Values[] | null {
  const byPlace = new Map<number, Record<string, unknown>>();
  for (const [name, given] of Object.entries(values)) {
    const [list, place = '', member, ...rest] = name.split('.');
    if (list !== field.name || !/^\d{1,3}$/.test(place) || !member || rest.length > 0) continue;
    const last: unknown = Array.isArray(given) ? given.at(-1) : given;
    byPlace.set(Number(place), { ...byPlace.get(Number(place)), [member]: last });
  }
  if (byPlace.size === 0) return null;
  return [...byPlace]
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row)
    .filter((row) => row[REMOVE] !== 'true' && rows.fields.some((one) => isEntered(one, row)));
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
    return rows.read({ ...keptOf(row), ...Object.fromEntries(members) });
  });

/** Parses numbers; other texts stay as typed and fail validation. */
const numberOf = (value: unknown): unknown =>
  Number.isFinite(Number(value)) ? Number(value) : value;

/** Returns the kept members of an entry; ignores text that the form did not write. */
function keptOf({ [KEPT]: text }: Values): Values {
  if (typeof text !== 'string') return {};
  try {
    const kept = parseJson(text);
    return isRecord(kept) ? kept : {};
  } catch {
    return {};
  }
}
