import { exactJson } from '../../common/exact-json.js';
import { targetOf, type Field } from '../../common/fields/field.js';
import { PREVIEW_FIELD } from './browser-form.js';
import { isListField } from './form-values.js';
import { attributes, hiddenInput, html, prose, type Html, type HtmlValue } from './html.js';
import { indentedJson } from './json-view.js';
import { folded } from './layout.js';
import type { ReferenceList } from '../../common/rest/reference-lists.service.js';
import { helpFor, labelForField } from './labels.js';

export interface FormField {
  field: Field;
  /** Prefix of the element ids, unique on the page. */
  id: string;
  value: unknown;
  errors: readonly string[];
  /** Options of a reference or of a list of references. */
  choices?: ReferenceList;
  /** URL of the list to search in; default: the list of all objects of the type. */
  list?: string;
  /** Field whose value determines the choices of this field. */
  dependsOn?: string;
  /** True if the choices of another field depend on the value of this field. */
  hasDependents?: boolean;
  /** True to mask the value and to prevent browsers from filling it in. */
  secret: boolean;
}

/** Renders the label, control, help and errors of a field. */
export function formField(input: FormField): Html {
  const { field, id, errors } = input;
  // A required field with `blank` accepts an empty value.
  const required = field.required && !field.blank;
  const helpText = helpFor(field);
  const described = [helpText && `${id}-help`, errors.length > 0 && `${id}-errors`].filter(Boolean);
  const common = {
    id,
    name: field.name,
    required,
    'aria-invalid': errors.length > 0 ? 'true' : null,
    'aria-describedby': described.length > 0 ? described.join(' ') : null,
  };
  const help = helpText && html`<p class="hint" id="${id}-help">${prose(helpText)}</p>`;
  const messages = errorList(errors, `${id}-errors`);
  if (field.kind === 'boolean' && !field.nullable) {
    return html`<div class="field check">
      ${hiddenInput(field.name, 'false')}
      <input
        type="checkbox"
        value="true"
        ${attributes({ ...common, required: false, checked: isTrue(input.value) })}
      />
      <label for="${id}">${labelForField(field)}</label>${help}${messages}
    </div>`;
  }
  if (isBoxes(input)) return boxesField(input, html`${help}${messages}`);
  return html`<div
    ${attributes({ class: `field${isWide(input) ? ' span' : ''}`, id: input.dependsOn ? `${id}-field` : null, 'data-follows': input.dependsOn ?? null })}
  >
    <label for="${id}"
      >${labelForField(field)}${required && html`<span class="required" title="required"> *</span>`}</label
    >
    ${control(input, common)}${help}${messages}${
      input.hasDependents &&
      html`<button class="small plain-only" name="${PREVIEW_FIELD}" value="true" formnovalidate>
        Show choices
      </button>`
    }${field.examples && exampleList(field.examples())}
  </div>`;
}

/** Returns true for a field with several lines. */
export const isWide = ({ field, value, secret }: FormField): boolean =>
  !isListField(field) &&
  !isLine(field, value) &&
  (field.control === 'lines' || (['variables', 'json', 'text'].includes(field.kind) && !secret));

/** Returns true for a field with a control of one line whose value has no line break. */
const isLine = ({ control }: Field, value: unknown): boolean =>
  control === 'line' && !text(value).includes('\n');

const isBoxes = (input: FormField): boolean =>
  isListField(input.field) && optionsOf(input).length <= MAX_BOXES && !input.choices?.hasMore;

/** Renders a list field as check boxes; the hidden input sends the field if none is checked. */
function boxesField(input: FormField, helpAndErrors: Html): Html {
  const { field, id, value } = input;
  const options = optionsOf(input);
  return html`<fieldset class="field checks span" id="${id}">
    <legend>${labelForField(field)}</legend>
    ${hiddenInput(field.name, '')} ${options.length === 0 && html`<p class="none">None yet</p>`}
    ${checkBoxes(field.name, id, options, new Set([value].flat().map(String)))}${helpAndErrors}
  </fieldset>`;
}

/** Maximum number of check boxes; more options are rendered as a multiple select. */
const MAX_BOXES = 12;

type Option = readonly [value: string, label: string, kind?: string];

const optionsOf = ({ field, choices }: FormField): readonly Option[] =>
  choices?.options ?? field.choices.map(([value, label]) => [String(value), label] as const);

/** Renders a check box for each option, with a common name. */
export const checkBoxes = (
  name: string,
  id: string,
  options: readonly Option[],
  chosen: ReadonlySet<string> = new Set(),
): HtmlValue =>
  options.map(
    ([value, label, kind], index) =>
      html`<label class="one" for="${id}-${index}"
        ><input
          type="checkbox"
          ${attributes({ id: `${id}-${index}`, name, value, checked: chosen.has(value) })}
        />${label}${kind !== undefined && html` <small>${kind}</small>`}</label
      >`,
  );

/** Renders example documents to copy. */
const exampleList = (examples: Readonly<Record<string, unknown>>): Html =>
  folded(
    'Examples',
    html`<dl>
      ${Object.entries(examples).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd><pre tabindex="0">${JSON.stringify(value, null, 2)}</pre></dd>`,
      )}
    </dl>`,
    { kind: 'plain' },
  );

export const errorList = (errors: readonly string[], id: string): HtmlValue =>
  errors.length > 0 &&
  html`<ul class="errors" id="${id}">
    ${errors.map((text) => html`<li>${text}</li>`)}
  </ul>`;

type Common = Record<string, string | number | boolean | null>;

/** Renders the control of a secret. A text area cannot be masked. */
const secretControl = ({ field, value }: FormField, common: Common): Html =>
  field.control === 'lines'
    ? textarea(common, text(value), 6, { class: 'code' })
    : html`<input
        type="password"
        ${attributes({
          ...common,
          value: text(value),
          autocomplete: 'new-password',
          maxlength: field.max,
        })}
      />`;

function control(input: FormField, common: Common): Html {
  const { field, value, secret } = input;
  if (secret) return secretControl(input, common);
  if (isListField(field)) return multipleSelect(input, common);
  if (field.choices.length > 0) return choiceSelect(field, text(value), common);
  switch (field.kind) {
    case 'boolean':
      return choiceSelect({ ...field, choices: YES_NO }, text(value), common);
    case 'reference':
      return referenceControl(input, common);
    case 'text':
      return isLine(field, value)
        ? html`<input ${attributes({ ...common, value: text(value), autocomplete: 'off' })} />`
        : textarea(common, text(value), 2, {});
    case 'json':
      return textarea(common, documentText(value), 6, { 'data-check': 'json', class: 'code' });
    case 'variables':
      return textarea(common, text(value), 6, { 'data-check': 'yaml', class: 'code' });
    case 'integer':
      return html`<input
        type="number"
        step="1"
        ${attributes({
          ...common,
          value: text(value),
          min: field.min,
          max: field.max,
        })}
      />`;
    case 'float':
      return html`<input
        type="number"
        step="any"
        ${attributes({ ...common, value: text(value) })}
      />`;
    default:
      return html`<input
          ${attributes({
            ...common,
            type: inputType(field),
            value: text(value),
            maxlength: field.control ? null : field.max,
            placeholder: field.kind === 'datetime' ? '2030-01-31T12:00:00Z' : null,
            autocomplete: 'off',
            list: field.suggestions ? `${input.id}-texts` : null,
            'data-zone': field.control === 'zone',
          })}
        />
        ${field.suggestions && suggestionList(`${input.id}-texts`, field.suggestions())}`;
  }
}

function inputType({ kind, control: inputControl }: Field): string {
  if (inputControl === 'date' || inputControl === 'time') return inputControl;
  return kind === 'email' ? 'email' : 'text';
}

const suggestionList = (id: string, texts: readonly string[]): Html =>
  html`<datalist id="${id}">
    ${texts.map((text) => html`<option value="${text}"></option>`)}
  </datalist>`;

function textarea(common: Common, value: string, rows: number, more: Common): Html {
  // HTML drops the first line break after the tag, so a leading line break needs another before it.
  return html`<textarea ${attributes({ ...common, rows, spellcheck: 'false', ...more })}>
${value}</textarea>`;
}

function choiceSelect(field: Field, chosen: string, common: Common): Html {
  const hasEmpty = field.choices.some(([value]) => value === '');
  const optional = !hasEmpty && (!field.required || chosen === '');
  return html`<select ${attributes(common)}>
    ${optional && html`<option value="">---------</option>`}
    ${field.choices.map(([value, label]) =>
      option(String(value), label === '' ? '---------' : label, chosen),
    )}
  </select>`;
}

const option = (value: string, label: string, chosen: string): Html =>
  html`<option ${attributes({ value, selected: value === chosen })}>${label}</option>`;

/** Choices of a nullable boolean. */
const YES_NO = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

/**
 * Renders a multiple select. The hidden input sends the field if nothing is selected.
 */
function multipleSelect(input: FormField, common: Common): Html {
  const { field, value, choices } = input;
  const chosen = new Set([value].flat().map(String));
  return html`${hiddenInput(field.name, '')}
    <select multiple size="4" ${attributes(common)}>
      ${optionsOf(input).map(([id, label, kind]) =>
        option(id, kind === undefined ? label : `${label} (${kind})`, chosen.has(id) ? id : ''),
      )}
    </select>
    ${choices?.hasMore && html`<p class="hint">Not all choices are shown. Add others on the page of the list.</p>`}`;
}

/**
 * Renders a select, or an input for the id if there are too many objects; a script adds a search.
 */
function referenceControl({ field, value, choices, list: url }: FormField, common: Common): Html {
  const list = url ?? `/api/v2/${targetOf(field).path}/`;
  const chosen = text(value);
  const label = choices?.options.find(([id]) => id === chosen)?.[1];
  if (choices && !choices.hasMore) {
    // A value that is not listed, such as a deleted inventory, stays until the user selects another.
    return html`<select ${attributes({ ...common, 'data-picker': list })}>
      <option value="">---------</option>
      ${chosen !== '' && label === undefined && option(chosen, `#${chosen}`, chosen)}
      ${choices.options.map(([id, text]) => option(id, text, chosen))}
    </select>`;
  }
  return html`<input
      inputmode="numeric"
      pattern="[0-9]*"
      ${attributes({
        ...common,
        value: chosen,
        autocomplete: 'off',
        placeholder: 'ID',
        'data-picker': list,
        'data-label': label ?? null,
      })}
    />
    <p class="hint plain-only">Find the ID in <a href="${list}">the list</a>.</p>`;
}

/** Returns the value that the control of a field sends if the user does not change it. */
export function submittedValue({ field, value }: FormField): unknown {
  if (isListField(field)) return [value ?? []].flat().map(String);
  if (field.kind === 'boolean' && !field.nullable) return String(isTrue(value));
  return field.kind === 'json' ? documentText(value) : text(value);
}

export const isTrue = (value: unknown): boolean =>
  value === true || value === 'true' || (Array.isArray(value) && value.includes('true'));

function text(value: unknown): string {
  const last: unknown = Array.isArray(value) ? value.at(-1) : value;
  if (last === null || last === undefined) return '';
  return typeof last === 'object' ? exactJson(last) : String(last);
}

/** Returns a JSON document as indented text; returns entered text unchanged. */
const documentText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : indentedJson(value);
};
