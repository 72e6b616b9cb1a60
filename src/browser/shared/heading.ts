import type { TableEntry, TableRoute } from '../../common/rest/route-table.service.js';
import { actionTitle, removalVerb } from './forms.service.js';
import { html, prose, type Html, type HtmlValue } from './html.js';
import { STAR } from './bookmarks.js';
import { hiddenQuery } from './layout.js';
import type { PageContext } from './page-context.js';
import { hasFormPages, type UsableRoute } from './page-sections.service.js';
import { formUrl } from './form-parameters.js';
import { RESPONSE_ID } from './response-view.js';
import { labelFor } from './labels.js';

interface HeadingParts {
  context: PageContext;
  title: string;
  /** Name of the object that the title belongs to. */
  parent: string | null;
  /** Description of the object on the page. */
  description: string;
  /** State of the object on the page. */
  state: Html | null;
  entry: TableEntry | undefined;
  /** Matched route; undefined for an unknown URL or method. */
  route: TableRoute | undefined;
  /** Routes whose forms are on the page. */
  usable: readonly UsableRoute[];
  /** Star button of the object on the page. */
  star: Star | null;
}

/** The state of a star button. */
export interface Star {
  /** Value that the button sends. */
  value: string;
  isSet: boolean;
}

/** Renders the title and description of a page, and links to its forms and its API response. */
export function heading(parts: HeadingParts): Html {
  const { context, title, parent, description, state, entry, route, usable, star } = parts;
  const listed = route?.info?.kind === 'list' && parent === null ? route.info.resource : undefined;
  const about = listed?.pages.list?.about ?? route?.info?.summary;
  const kind = kindOf(route);
  const links = usable.filter(({ method }) => method !== 'PUT');
  const isPaged = hasFormPages(entry);
  return html`<div class="heading">
    <div>
      <div class="titled">
        <h1>${title}${parent !== null && html` <span class="subject">– ${parent}</span>`}</h1>
        ${state && html`<span id="object-state" data-refresh>${state}</span>`}
      </div>
      <p class="description">
        ${kind === null ? prose(about ?? '') : html`<span class="kind">${kind}</span>`}
        ${description && html`<span class="user-text">${description}</span>`}
      </p>
    </div>
    <div id="object-tools" class="tools" data-refresh>
      ${star && starButton(context, star)}
      ${links.map((link) => formLink(link, isPaged && link.info.kind !== 'action' ? context.path : null))}
      <a class="button quiet" href="#${RESPONSE_ID}" title="API response of this page">API</a>
    </div>
  </div>`;
}

/** Returns the label of the type of the object; null for lists, actions and other pages. */
function kindOf(route: TableRoute | undefined): string | null {
  const info = route?.info;
  return info?.kind === 'retrieve' && info.resource ? labelFor(info.resource.type) : null;
}

/**
 * Renders a link to a form.
 *
 * @param path path of a form that has its own page; null for a form on this page
 */
function formLink(route: UsableRoute, path: string | null): HtmlValue {
  const { method } = route;
  const text = linkText(route);
  const kind = method === 'DELETE' ? ' danger' : method === 'POST' && path ? ' primary' : '';
  const key = method.toLowerCase();
  const url = path === null ? `#form-${key}` : formUrl(path, key);
  return html`<a class="button${kind}" href="${url}">${text}</a>`;
}

function linkText(route: UsableRoute): string {
  const { method, info } = route;
  if (method === 'PATCH') return 'Edit';
  if (method === 'DELETE') return removalVerb(info);
  return info.kind === 'action' ? actionTitle(route, info) : 'Add';
}

/** Renders the star button as a GET form, which works without scripts and redirects to the page. */
function starButton({ path, query }: PageContext, { value, isSet }: Star): Html {
  return html`<form method="get" action="${path}">
    ${hiddenQuery(query, [])}
    <button
      name="${STAR}"
      value="${value}"
      aria-pressed="${String(isSet)}"
      title="${isSet ? 'Shown on the dashboard' : 'Show on the dashboard'}"
    >
      <span aria-hidden="true">${isSet ? '★' : '☆'}</span> Star
    </button>
  </form>`;
}
