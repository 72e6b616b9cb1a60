import { isDeepStrictEqual } from 'node:util';
import type { PageLayout } from '../../common/resource/page-layout.js';
import { errorList, formField, isTrue, isWide, type FormField } from './form-fields.js';
import { rowsField } from './form-rows.js';
import { attributes, hiddenInput, html, type Html } from './html.js';
import { inSections } from './sections.js';
import { labelForField } from './labels.js';

/**
 * Renders the fields of a form in the order and sections of a layout. A section is expanded if the layout
 * requests it, or if one of its fields is required, filled in, invalid or prompted for at launch.
 */
export function formParts(inputs: readonly FormField[], layout: PageLayout = {}): Html[] {
  const byName = new Map(inputs.map((input) => [input.field.name, input]));
  const promptFor = (input: FormField): FormField | undefined =>
    byName.get(layout.beside?.[input.field.name] ?? '');
  const prompts = new Set(inputs.map(promptFor));
  const others = inputs.filter((input) => !prompts.has(input));
  return inSections(layout, others, ({ field }) => field.name).map(({ title, parts }) => {
    const fields = html`${parts.map((input) => fieldView(input, promptFor(input)))}`;
    const isOpen =
      layout.unfolded?.includes(title) ||
      parts.some((input) => needsAttention(input) || isTrue(promptFor(input)?.value));
    return title === '' ? fields : sectionView(title, fields, isOpen);
  });
}

const sectionView = (title: string, fields: Html, isOpen: boolean): Html =>
  html`<details class="plain section span" ${isOpen && 'open'}>
    <summary>${title}</summary>
    <fieldset class="grid folded">
      <legend class="hidden">${title}</legend>
      ${fields}
    </fieldset>
  </details>`;

const fieldView = (input: FormField, prompt: FormField | undefined): Html => {
  const view = input.field.rows ? rowsField(input, input.field.rows) : formField(input);
  if (!prompt) return view;
  return html`<div class="prompted${isWide(input) ? ' span' : ''}">
    ${view} ${promptBox(input, prompt)}
  </div>`;
};

/** Renders the check box that lets launches set a field. */
const promptBox = ({ field }: FormField, { field: { name }, id, ...prompt }: FormField): Html =>
  html`<div class="check prompt">
    ${hiddenInput(name, 'false')}
    <input
      type="checkbox"
      value="true"
      ${attributes({ id, name, checked: isTrue(prompt.value) })}
    />
    <label for="${id}"
      >Prompt on launch<span class="hidden"> for ${labelForField(field)}</span></label
    >
    ${errorList(prompt.errors, `${id}-errors`)}
  </div>`;

const needsAttention = ({ field, value, errors }: FormField): boolean =>
  errors.length > 0 || (field.required && !field.blank) || !isDefault(value, field.default);

/** Compares the values also as text, because forms contain texts, but objects contain typed values. */
function isDefault(value: unknown, fallback: unknown): boolean {
  const isEmpty = (content: unknown): boolean =>
    content === null ||
    content === undefined ||
    content === '' ||
    content === false ||
    (typeof content === 'object' && Object.keys(content).length === 0);
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return (
    (isEmpty(single) && isEmpty(fallback)) ||
    isDeepStrictEqual(single, fallback) ||
    String(single) === String(fallback)
  );
}
