import { html, type Html, type HtmlValue } from '../shared/html.js';
import { csrfInput, page } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { hiddenInput } from '../shared/panel-forms.js';
import { labelFor } from '../shared/labels.js';
import type { Selected, SelectionAction } from './selection.service.js';

const VERBS = { cancel: ['Cancel', 'Canceled'], delete: ['Delete', 'Deleted'] } as const;

interface SelectionParts {
  action: SelectionAction;
  selected: readonly Selected[];
  /** Path of the list. */
  back: string;
}

const nounFor = ({ action, selected: { length } }: SelectionParts): string => {
  const noun = action === 'cancel' ? 'run' : 'object';
  return length === 1 ? `1 ${noun}` : `${length} ${noun}s`;
};

/** Renders the page that asks for confirmation and names the selected objects. */
export function confirmationPage(context: PageContext, parts: SelectionParts): string {
  const { action, selected, back } = parts;
  const [verb] = VERBS[action];
  const open = selected.filter(({ refusal }) => refusal === null);
  const title = `${verb} ${nounFor({ ...parts, selected: open })}?`;
  return page({
    context,
    title,
    narrow: true,
    content: html`<h1>${title}</h1>
      <form class="card" method="post" action="/selection/">
        ${csrfInput(context.csrf)} ${hiddenInput('action', action)} ${hiddenInput('back', back)}
        ${hiddenInput('at', open.map(({ definition, id }) => `${definition.type}.${id}`).join(','))}
        ${selectedList(open)} ${refusedList(selected)}
        ${action === 'delete' && html`<p>This cannot be undone.</p>`}
        <div class="actions">
          ${open.length > 0 && html`<button class="danger">${verb} ${nounFor({ ...parts, selected: open })}</button>`}
          <a class="button quiet" href="${back}">Back to the list</a>
        </div>
      </form>`,
  });
}

/** Renders what was done, and the reason for each object that was refused. */
export function resultPage(context: PageContext, parts: SelectionParts): string {
  const { action, selected, back } = parts;
  const done = selected.filter(({ refusal }) => refusal === null);
  const title = `${VERBS[action][1]} ${done.length} of ${nounFor(parts)}`;
  return page({
    context,
    title,
    narrow: true,
    content: html`<h1>${title}</h1>
      <div class="card">
        ${selectedList(done)} ${refusedList(selected)}
        <p><a class="button" href="${back}">Back to the list</a></p>
      </div>`,
  });
}

const selectedList = (selected: readonly Selected[]): Html =>
  html`<ul>
    ${selected.map(({ name, definition }) => html`<li>${name} <small>${labelFor(definition.type)}</small></li>`)}
  </ul>`;

function refusedList(selected: readonly Selected[]): HtmlValue {
  const refused = selected.filter(({ refusal }) => refusal !== null);
  return (
    refused.length > 0 &&
    html`<div class="message error" role="alert">
      <p>Not permitted or not possible:</p>
      <ul>
        ${refused.map(({ name, refusal }) => html`<li>${name}: ${refusal}</li>`)}
      </ul>
    </div>`
  );
}
