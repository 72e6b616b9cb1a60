import type { Field } from '../../common/fields/field.js';
import { hiddenInput, html, type Html } from './html.js';
import { formUrl, PRESET } from './form-parameters.js';
import { withQuery, type PageContext } from './page-context.js';
import { labelForField } from './labels.js';

/** Renders a link for each choice, to the page with the fields of the choice. */
export function choiceLinks(
  field: Field,
  { path, query, initialValues }: Pick<PageContext, 'path' | 'initialValues' | 'query'>,
): Html {
  const link = (value: string): string =>
    path + withQuery(query, { ...prefixed(initialValues), [PRESET + field.name]: value });
  return html`<p>${labelForField(field)}:</p>
    <ul class="choices">
      ${field.choices
        .filter(([value]) => value !== '')
        .map(
          ([value, label]) =>
            html`<li><a class="button" href="${link(String(value))}">${label}</a></li>`,
        )}
    </ul>`;
}

const prefixed = (initialValues: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(initialValues).map(([name, value]) => [PRESET + name, value]));

/** Renders the chosen value, which the form sends unchanged. */
export function chosenView(
  field: Field,
  chosen: unknown,
  {
    key,
    object,
    context,
  }: { key: string; object: object | null; context: Pick<PageContext, 'path'> },
): Html {
  const value = String([chosen].flat().at(-1) ?? '');
  const label = field.choices.find(([key]) => String(key) === value)?.[1] ?? value;
  return html`<p class="chosen span" id="${key}-${field.name}">
    ${labelForField(field)}: <strong>${label}</strong>
    ${hiddenInput(field.name, value)}
    ${!object && html`<a href="${formUrl(context.path, 'post')}">Choose another</a>`}
  </p>`;
}
