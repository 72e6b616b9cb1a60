import { RETURN_FIELD, TOLD_THERE_FIELD } from './browser-form.js';
import { attributes, html, type Html, type HtmlValue } from './html.js';
import { csrfInput } from './layout.js';
import type { ReferenceChoices } from '../../common/rest/reference-lists.service.js';

/** A form that stands on another page than that of its URL. */
export interface PanelForm {
  /** Where it is sent. */
  action: string;
  csrf: string;
  /** Where it leads when it is done; to what it made unless this is said. */
  returnTo?: string;
  /** A refusal leads there as well, to be told in the card; for forms of choices alone. */
  isToldThere?: boolean;
  method?: 'PATCH' | 'DELETE';
  /** Values of hidden fields. */
  fields?: Readonly<Record<string, string | number | boolean>>;
  kind?: string;
}

export const panelForm = (
  { action, csrf, returnTo, isToldThere = false, method, fields = {}, kind = 'inline' }: PanelForm,
  content: HtmlValue,
): Html =>
  html`<form method="post" action="${action}" class="${kind}">
    ${csrfInput(csrf)} ${returnTo !== undefined && hiddenInput(RETURN_FIELD, returnTo)}
    ${isToldThere && hiddenInput(TOLD_THERE_FIELD, 'true')}
    ${method && hiddenInput('_method', method)}
    ${Object.entries(fields).map(([name, value]) => hiddenInput(name, String(value)))} ${content}
  </form>`;

/** A button that does one thing. */
export const panelButton = (form: PanelForm, label: HtmlValue, kind = 'small'): Html =>
  panelForm({ kind: 'action', ...form }, html`<button class="${kind}">${label}</button>`);

export const hiddenInput = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** A choice among objects: a list, or a box for an id where there are too many; scripts search in both. */
export function objectSelect(
  { id, name, label, list }: { id: string; name: string; label: string; list: string },
  { options, more }: ReferenceChoices,
): Html {
  const common = { id, name, required: true, 'data-picker': list };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${
      more
        ? html`<input
            inputmode="numeric"
            pattern="[0-9]*"
            placeholder="ID"
            autocomplete="off"
            ${attributes(common)}
          />`
        : html`<select ${attributes(common)}>
            ${options.length !== 1 && html`<option value="">---------</option>`}
            ${options.map(([one, text]) => html`<option value="${one}">${text}</option>`)}
          </select>`
    }
  </div>`;
}

/** One line of text to fill in. */
export const panelTextInput = (
  { id, name, label }: { id: string; name: string; label: string },
  more: Record<string, string | number | boolean | null> = {},
): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    <input ${attributes({ id, name, type: 'text', autocomplete: 'off', ...more })} />
  </div>`;

/** A card of a page. */
export const panelCard = (id: string, title: string, content: HtmlValue): Html =>
  html`<section class="card panel-card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;
