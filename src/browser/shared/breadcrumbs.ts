import { decodedPart } from '../../common/fields/text.js';
import type { RouteTable, TableEntry } from '../../common/rest/route-table.service.js';
import { html, type Html } from './html.js';
import type { Breadcrumb } from './page-trail.service.js';
import { orderOf } from './tabs.js';
import { labelFor } from './labels.js';

const NAMES: Record<string, string> = { api: 'API', v2: 'Version 2' };
/** Path whose segments are not breadcrumbs of the pages below it, because the navigation links to them. */
const BASE = '/api/v2/';

interface BreadcrumbParts {
  path: string;
  names: ReadonlyMap<string, string>;
  /** Breadcrumbs before the first object of the path; empty unless the path begins with an object. */
  trail: readonly Breadcrumb[];
}

/** Renders the breadcrumbs of a page. Segments without a page are not links. */
export function breadcrumbs(table: RouteTable, { path, names, trail }: BreadcrumbParts): Html {
  const segments = path.split('/').filter((segment) => segment !== '');
  const urls = segments.map((_segment, index) => `/${segments.slice(0, index + 1).join('/')}/`);
  const isBelow = path.startsWith(BASE) && path !== BASE;
  // The trail also contains the collection of the object.
  const skipped = isBelow ? (trail.length > 0 ? 3 : 2) : 0;
  const pathSteps = urls.slice(skipped).map((url): Breadcrumb => {
    const segment = url.split('/').at(-2) ?? '';
    const entry = table.match(url);
    const name = names.get(url) ?? NAMES[segment] ?? segmentLabel(segment, entry);
    const isReadable = entry?.routes.has('GET') ?? false;
    return { name, url: isReadable ? url : '' };
  });
  const steps = [...trail, ...pathSteps];
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      ${steps.map(({ name, url }, index) =>
        index === steps.length - 1
          ? html`<li aria-current="page">${name}</li>`
          : html`<li>${url === '' ? name : linkTo(table, url, name)}</li>`,
      )}
    </ol>
  </nav>`;
}

/** Renders a link to a page. A link to a list contains the order of the list. */
function linkTo(table: RouteTable, url: string, name: string): Html {
  const route = table.match(url)?.routes.get('GET');
  return html`<a href="${url}${route ? orderOf(route) : ''}">${name}</a>`;
}

/** Returns the label of a path segment. */
export function segmentLabel(segment: string, entry: TableEntry | undefined): string {
  const definition = entry?.routes.get('GET')?.info?.resource;
  const list = definition?.path === segment ? definition.pages.list : undefined;
  return list?.title ?? labelFor(decodedPart(segment));
}
