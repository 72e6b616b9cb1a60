import type { TableRoute } from '../rest/route-table.service.js';
import { actionTitle } from './forms.service.js';
import { html, type Html, type HtmlValue } from './html.js';
import { STAR } from './bookmarks.js';
import { csrfInput, hiddenQuery } from './layout.js';
import type { PageContext } from './page-context.js';
import { wordFor } from './words.js';

export interface HeadingParts {
  context: PageContext;
  title: string;
  /** The route that answered; undefined for a URL or method that nothing answers. */
  route: TableRoute | undefined;
  /** The `Allow` header of the answer, or an empty text. */
  allow: string;
  /** Routes whose forms are on the page. */
  usable: readonly TableRoute[];
  /** Of the object that the page shows. */
  star: Star | null;
}

/** The button that stars an object. */
export interface Star {
  /** What the button sends. */
  value: string;
  isSet: boolean;
}

/** Title, description, allowed methods, and the way to each form of the page. */
export function heading(parts: HeadingParts): Html {
  const { context, title, route, allow, usable, star } = parts;
  const told = route?.info?.kind === 'list' ? route.info.resource?.pages.list : undefined;
  const isTold = told?.title === title;
  const kind = kindOf(route);
  const links = usable.filter(({ method }) => method !== 'PUT');
  return html`<div class="heading">
    <div>
      <h1>${title}</h1>
      <p class="description">
        ${kind === null ? (isTold ? told.about : route?.info?.summary) : html`<span class="kind">${kind}</span>`}
      </p>
    </div>
    <div class="tools">
      ${allow && methodList(allow)} ${star && starButton(context, star)} ${links.map(jump)}
      ${context.actor && optionsButton(context)}
    </div>
  </div>`;
}

/** What kind of object the page shows; null for lists, actions and whatever else says what it does. */
function kindOf(route: TableRoute | undefined): string | null {
  const info = route?.info;
  return info?.kind === 'retrieve' && info.resource ? wordFor(info.resource.type) : null;
}

const methodList = (allow: string): Html => {
  const methods = allow.split(', ').map((method) => html`<code class="method">${method}</code> `);
  return html`<p class="allow"><span class="hidden">Allowed methods: </span>${methods}</p>`;
};

function jump(route: TableRoute): HtmlValue {
  const { method, info } = route;
  const text = JUMP[method] ?? (info && info.kind === 'action' ? actionTitle(route, info) : 'Add');
  const danger = method === 'DELETE' && ' danger';
  return html`<a class="button${danger}" href="#form-${method.toLowerCase()}">${text}</a>`;
}

const JUMP: Record<string, string> = { PATCH: 'Change', DELETE: 'Delete' };

/** Without scripts, like the themes: a GET form, whose answer leads back. */
function starButton({ path, query }: PageContext, { value, isSet }: Star): Html {
  return html`<form method="get" action="${path}">
    ${hiddenQuery(query, [])}
    <button
      name="${STAR}"
      value="${value}"
      aria-pressed="${String(isSet)}"
      title="${isSet ? 'Starred: it is on the dashboard' : 'Keep it on the dashboard'}"
    >
      <span aria-hidden="true">${isSet ? '★' : '☆'}</span> Star
    </button>
  </form>`;
}

const optionsButton = ({ path, csrf }: PageContext): Html =>
  html`<form method="post" action="${path}">
    ${csrfInput(csrf)}
    <button name="_method" value="OPTIONS" title="What this URL accepts">Options</button>
  </form>`;
