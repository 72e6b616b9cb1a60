import type { RouteTable } from '../rest/route-table.service.js';
import { html, type Html } from './html.js';
import { labelOf } from '../fields/label.js';

const NAMES: Record<string, string> = { api: 'API', v2: 'Version 2' };

/** The way from the root to a page. Segments without a page of their own are not links. */
export function breadcrumbs(
  table: RouteTable,
  path: string,
  names: ReadonlyMap<string, string>,
): Html {
  const segments = path.split('/').filter((segment) => segment !== '');
  const steps = segments.map((segment, index) => {
    const url = `/${segments.slice(0, index + 1).join('/')}/`;
    const name = names.get(url) ?? NAMES[segment] ?? labelOf(decoded(segment));
    const readable = table.match(url)?.routes.has('GET') ?? false;
    if (index === segments.length - 1) return html`<li aria-current="page">${name}</li>`;
    return html`<li>${readable ? html`<a href="${url}">${name}</a>` : name}</li>`;
  });
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      ${steps}
    </ol>
  </nav>`;
}

/** A path segment as text; one that is not valid percent-encoding stays as it is. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
