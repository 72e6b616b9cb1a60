import { isDeepStrictEqual } from 'node:util';
import type { PageLayout } from '../../common/resource/page-layout.js';
import { formField, type FormField } from './form-fields.js';
import { rowsField } from './form-rows.js';
import { html, type Html } from './html.js';
import { inSections, type Section } from './sections.js';

/**
 * Renders the fields of a form in the order and sections of a layout. A section is open if the
 * layout says so, or if one of its fields is required, filled in or invalid.
 */
export function formParts(inputs: readonly FormField[], layout: PageLayout = {}): Html[] {
  return inSections(layout, inputs, ({ field }) => field.name).map((section) =>
    sectionView(section, layout.unfolded?.includes(section.title) || section.parts.some(matters)),
  );
}

const sectionView = ({ title, parts }: Section<FormField>, isOpen: boolean): Html =>
  title === ''
    ? html`${parts.map(fieldView)}`
    : html`<details class="plain section span" ${isOpen && 'open'}>
        <summary>${title}</summary>
        <fieldset class="grid folded">
          <legend class="hidden">${title}</legend>
          ${parts.map(fieldView)}
        </fieldset>
      </details>`;

const fieldView = (input: FormField): Html =>
  input.field.rows ? rowsField(input, input.field.rows) : formField(input);

const matters = ({ field, value, errors }: FormField): boolean =>
  errors.length > 0 || (field.required && !field.blank) || !isUntouched(value, field.default);

/** Compares with the default as text too: forms hold texts, objects hold typed values. */
function isUntouched(value: unknown, standard: unknown): boolean {
  const isNothing = (one: unknown): boolean =>
    one === null ||
    one === undefined ||
    one === '' ||
    one === false ||
    (typeof one === 'object' && Object.keys(one).length === 0);
  const given: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return (
    (isNothing(given) && isNothing(standard)) ||
    isDeepStrictEqual(given, standard) ||
    String(given) === String(standard)
  );
}
