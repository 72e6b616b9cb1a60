import { ERRORS_IN_CARD_FIELD, METHOD_FIELD, RETURN_FIELD } from './browser-form.js';
import { attributes, hiddenInput, html, type Html, type HtmlValue } from './html.js';
import { csrfInput } from './layout.js';
import { objectTitleOf, type Item } from './value-views.js';
import type { ReferenceList } from '../../common/rest/reference-lists.service.js';

/** A form that is not on the page of its URL. */
export interface PanelForm {
  /** URL that the form is sent to. */
  action: string;
  csrf: string;
  /** Path to redirect to after success; default: the created or changed object, or its list. */
  returnTo?: string;
  /** True if errors are shown in the card at `returnTo`; the form there does not keep entered text. */
  errorsInCard?: boolean;
  method?: 'PATCH' | 'DELETE';
  /** Values of hidden fields. */
  fields?: Readonly<Record<string, string | number | boolean>>;
  kind?: string;
}

export const panelForm = (
  { action, csrf, returnTo, errorsInCard = false, method, fields = {}, kind = 'inline' }: PanelForm,
  content: HtmlValue,
): Html =>
  html`<form method="post" action="${action}" class="${kind}">
    ${csrfInput(csrf)} ${returnTo !== undefined && hiddenInput(RETURN_FIELD, returnTo)}
    ${errorsInCard && hiddenInput(ERRORS_IN_CARD_FIELD, 'true')}
    ${method && hiddenInput(METHOD_FIELD, method)}
    ${Object.entries(fields).map(([name, value]) => hiddenInput(name, String(value)))} ${content}
  </form>`;

/** Renders a form with only a button. */
export const panelButton = (form: PanelForm, label: HtmlValue, kind = 'small'): Html =>
  panelForm({ kind: 'action', ...form }, html`<button class="${kind}">${label}</button>`);

/** Renders a button that removes an object from the list at `action`. */
export const removeButton = (form: PanelForm, item: Item, kind?: string): Html =>
  panelButton(
    { ...form, fields: { id: String(item.id), disassociate: true } },
    html`Remove<span class="hidden"> ${objectTitleOf(item)}</span>`,
    kind,
  );

/** Renders an entry of a list on a card, with a button that removes the object if there is a form. */
export const listedItem = (item: Item, form: PanelForm | null, kind?: string): Html =>
  html`<li>
    <a href="${String(item.url)}">${objectTitleOf(item)}</a>
    ${form && removeButton(form, item, kind)}
  </li>`;

/**
 * Renders a select of objects, or an input for the id if there are too many; scripts add a search.
 */
export function objectSelect(
  { id, name, label, list }: { id: string; name: string; label: string; list: string },
  { options, hasMore }: ReferenceList,
): Html {
  const common = { id, name, required: true, 'data-picker': list };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${
      hasMore
        ? html`<input
            inputmode="numeric"
            pattern="[0-9]*"
            placeholder="ID"
            autocomplete="off"
            ${attributes(common)}
          />`
        : html`<select ${attributes(common)}>
            ${options.length !== 1 && html`<option value="">---------</option>`}
            ${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}
          </select>`
    }
  </div>`;
}

/** Renders a single-line text input with its label. */
export const panelTextInput = (
  { id, name, label }: { id: string; name: string; label: string },
  extraAttributes: Record<string, string | number | boolean | null> = {},
): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    <input ${attributes({ id, name, type: 'text', autocomplete: 'off', ...extraAttributes })} />
  </div>`;

/** Renders a card of a page. */
export const panelCard = (id: string, title: string, content: HtmlValue): Html =>
  html`<section class="card panel-card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;
