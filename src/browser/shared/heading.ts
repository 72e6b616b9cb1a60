import type { TableRoute } from '../../common/rest/route-table.service.js';
import { actionTitle } from './forms.service.js';
import { html, type Html, type HtmlValue } from './html.js';
import { STAR } from './bookmarks.js';
import { hiddenQuery } from './layout.js';
import type { PageContext } from './page-context.js';
import { ANSWER } from './response-view.js';
import { wordFor } from './words.js';

export interface HeadingParts {
  context: PageContext;
  title: string;
  /** Name of the object that the title is about. */
  of: string | null;
  /** How the object is that the page shows, or how it went. */
  state: Html | null;
  /** The route that answered; undefined for a URL or method that nothing answers. */
  route: TableRoute | undefined;
  /** Routes whose forms are on the page. */
  usable: readonly TableRoute[];
  /** Star of the object that the page shows. */
  star: Star | null;
}

/** The button that stars an object. */
export interface Star {
  /** Values that the button sends. */
  value: string;
  isSet: boolean;
}

/** Title, description, and the way to each form of the page and to what programs get of it. */
export function heading(parts: HeadingParts): Html {
  const { context, title, of, state, route, usable, star } = parts;
  const listed = route?.info?.kind === 'list' && of === null ? route.info.resource : undefined;
  const about = listed?.pages.list?.about ?? route?.info?.summary;
  const kind = kindOf(route);
  const links = usable.filter(({ method }) => method !== 'PUT');
  return html`<div class="heading">
    <div>
      <div class="titled">
        <h1>${title}${of !== null && html` <span class="of">– ${of}</span>`}</h1>
        ${state && html`<span id="object-state" data-refresh>${state}</span>`}
      </div>
      <p class="description">${kind === null ? about : html`<span class="kind">${kind}</span>`}</p>
    </div>
    <div class="tools">
      ${star && starButton(context, star)} ${links.map(jump)}
      <a class="button quiet" href="#${ANSWER}" title="What programs get of this page">API</a>
    </div>
  </div>`;
}

/** Returns the kind of the object that the page shows; null for lists, actions and other pages. */
function kindOf(route: TableRoute | undefined): string | null {
  const info = route?.info;
  return info?.kind === 'retrieve' && info.resource ? wordFor(info.resource.type) : null;
}

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
