import { RouteTable, type TableRoute } from '../../common/rest/route-table.service.js';
import { html, type Html } from './html.js';
import type { Item } from './values.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { isRecord } from '../../common/records.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { wordIn } from './words.js';

/** Tests whether a path has a page, so that it can be a link. */
export type Leads = (path: string) => boolean;

/** Makes a `Leads` of the routes; a path without a route counts as a page. */
export function leadsBy(table: RouteTable): Leads {
  // Rows of a list have the same links but for their ids: each is looked up once.
  const known = new Map<string, boolean>();
  return (path) => {
    const place = (path.split('?')[0] ?? '').replace(/\/\d+(?=\/)/g, '/0');
    const found = known.get(place) ?? table.match(place)?.routes.has('GET') ?? true;
    known.set(place, found);
    return found;
  };
}

/** Something beside an object that is done by POST alone, such as sending it again. */
export interface RelatedAction {
  path: string;
  route: TableRoute;
  info: RouteInfo;
}

/** The actions on an object; what has a page too is reached by its link. */
export function relatedActions(table: RouteTable, { url }: Item): RelatedAction[] {
  if (typeof url !== 'string') return [];
  const pattern = url.replace(/[^/]+\/$/, ':id/');
  return table.entries.flatMap((entry) => {
    const below = entry.pattern.startsWith(pattern) ? entry.pattern.slice(pattern.length) : ':';
    const route = entry.routes.has('GET') ? undefined : entry.routes.get('POST');
    return !below.includes(':') && route?.info?.access === 'authenticated'
      ? [{ path: `${url}${below}/`, route, info: route.info }]
      : [];
  });
}

export interface RelatedParts {
  table: RouteTable;
  /** `https://host`, before addresses that are entered elsewhere. */
  origin: string;
}

/** The pages beside an object, and the addresses that others send to, in full. */
export function relatedLinks(
  object: Item,
  definition: ResourceDefinition,
  { table, origin }: RelatedParts,
): Html | null {
  const leads = leadsBy(table);
  const ordered = (path: string): string => {
    const info = table.match(path)?.routes.get('GET')?.info;
    const order = info?.kind === 'list' ? info.resource?.pages.linkedOrder : undefined;
    return order === undefined ? path : `${path}?order_by=${order}`;
  };
  const actions = new Set(relatedActions(table, object).map(({ path }) => path));
  const links = pathsOf(object).filter(([, path]) => !actions.has(path));
  if (links.length === 0) return null;
  return html`<nav class="card related" aria-labelledby="related-title">
    <h2 id="related-title">Related</h2>
    <ul>
      ${links.map(([name, path]) =>
        leads(path)
          ? html`<li><a href="${ordered(path)}">${wordIn(definition, name)}</a></li>`
          : html`<li>
              ${wordIn(definition, name)} <code class="address">${origin}${path}</code>
            </li>`,
      )}
    </ul>
  </nav>`;
}

/** Returns links below the object first, since the fields show the others too. */
function pathsOf({ related, url }: Item): [name: string, path: string][] {
  if (!isRecord(related)) return [];
  const paths = Object.entries(related).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const isBelow = ([, path]: [string, string]): boolean => path.startsWith(String(url));
  return [...paths.filter(isBelow), ...paths.filter((entry) => !isBelow(entry))];
}
