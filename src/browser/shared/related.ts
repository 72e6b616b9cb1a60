import { RouteTable, type TableRoute } from '../../common/rest/route-table.service.js';
import { html, type Html } from './html.js';
import type { Item } from './value-views.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { isRecord } from '../../common/records.js';
import { orderOf } from './tabs.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { labelIn } from './labels.js';

/** Function that returns false if a path has no page and cannot be a link. */
export type IsPage = (path: string) => boolean;

/** Creates an `IsPage` function from the routes, which returns true for paths without a route. */
export function pageTest(table: RouteTable): IsPage {
  // The links of rows differ only in their ids, so each pattern is looked up once.
  const known = new Map<string, boolean>();
  return (path) => {
    const pattern = (path.split('?')[0] ?? '').replace(/\/\d+(?=\/)/g, '/0');
    const found = known.get(pattern) ?? table.match(pattern)?.routes.has('GET') ?? true;
    known.set(pattern, found);
    return found;
  };
}

/** An action on an object with only a POST route, such as resending a notification. */
interface RelatedAction {
  path: string;
  route: TableRoute;
  info: RouteInfo;
}

/** Returns the actions on an object; omits actions with their own page, which are links. */
export function relatedActions(table: RouteTable, { url }: Item): RelatedAction[] {
  if (typeof url !== 'string') return [];
  // Some patterns contain the name of the object, such as the test of the logging settings.
  const prefixes = [url.replace(/[^/]+\/$/, ':id/'), url];
  return table.entries.flatMap((entry) => {
    const prefix = prefixes.find((text) => entry.pattern.startsWith(text));
    const rest = prefix === undefined ? ':' : entry.pattern.slice(prefix.length);
    const route = entry.routes.has('GET') ? undefined : entry.routes.get('POST');
    return !rest.includes(':') && route?.info?.access === 'authenticated'
      ? [{ path: `${url}${rest}/`, route, info: route.info }]
      : [];
  });
}

export interface RelatedParts {
  table: RouteTable;
  /** Origin such as `https://host`, the prefix of URLs to enter in other systems. */
  origin: string;
}

/**
 * Renders links to the related pages of an object, and full URLs to which other systems send
 * requests.
 */
export function relatedLinks(
  object: Item,
  definition: ResourceDefinition,
  { table, origin }: RelatedParts,
): Html | null {
  const isPage = pageTest(table);
  const ordered = (path: string): string => {
    const route = table.match(path)?.routes.get('GET');
    return route ? path + orderOf(route) : path;
  };
  const actions = new Set(relatedActions(table, object).map(({ path }) => path));
  const links = pathsOf(object).filter(([, path]) => !actions.has(path));
  if (links.length === 0) return null;
  return html`<nav class="related" aria-labelledby="related-title">
    <h3 id="related-title">Related</h3>
    <ul>
      ${links.map(([name, path]) =>
        isPage(path)
          ? html`<li><a href="${ordered(path)}">${labelIn(definition, name)}</a></li>`
          : html`<li>
              ${labelIn(definition, name)} <code class="address">${origin}${path}</code>
            </li>`,
      )}
    </ul>
  </nav>`;
}

/** Returns links, first those to paths below the object: the fields of a page already show the others. */
function pathsOf({ related, url }: Item): [name: string, path: string][] {
  if (!isRecord(related)) return [];
  const paths = Object.entries(related).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const isBelow = ([, path]: [string, string]): boolean => path.startsWith(String(url));
  return [...paths.filter(isBelow), ...paths.filter((entry) => !isBelow(entry))];
}
