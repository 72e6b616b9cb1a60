import { Injectable, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ROUTE_INFO, type RouteInfo } from './route.js';
import { pathsOf, metadataOf } from './route-location.js';
import { BrokenInvariant } from '../invariants.js';
import { memberOf, prototypeOf } from '../records.js';

export interface TableRoute {
  method: string;
  /** Express pattern with a leading and without a trailing slash: `/api/v2/teams/:id/users`. */
  pattern: string;
  /** Display name of the handler: `TeamsController.users_list`. */
  handler: string;
  info: RouteInfo | undefined;
  /** Class and method that carry the decorators of the handler. */
  prototype: object;
  name: string;
}

/** Methods of one URL pattern. */
export interface TableEntry {
  pattern: string;
  matcher: RegExp;
  routes: Map<string, TableRoute>;
}

/** All routes of the application, read once from the controllers' metadata. */
@Injectable()
export class RouteTable {
  private cachedEntries: readonly TableEntry[] | undefined;
  private collections: ReadonlyMap<string, readonly TableEntry[]> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  get entries(): readonly TableEntry[] {
    this.cachedEntries ??= this.read();
    return this.cachedEntries;
  }

  get routes(): readonly TableRoute[] {
    return this.entries.flatMap((entry) => [...entry.routes.values()]);
  }

  /**
   * Returns the entry that a path belongs to. Literal segments take precedence over parameters. As in the
   * framework, a path can end with one slash; with two slashes the last segment would be an empty id.
   */
  match(path: string): TableEntry | undefined {
    const bare = path.replace(/\/$/, '') || '/';
    this.collections ??= byCollection(this.entries);
    const entries = this.collections.get(collectionOf(bare)) ?? this.entries;
    return entries.find((entry) => entry.matcher.test(bare));
  }

  private read(): TableEntry[] {
    const byPattern = new Map<string, TableEntry>();
    for (const { instance, metatype } of this.discovery.getControllers()) {
      if (!instance || !metatype) continue;
      const bases = pathsOf(metatype);
      const prototype = prototypeOf(metatype);
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const handler = memberOf(prototype, name);
        if (typeof handler !== 'function') throw new BrokenInvariant(`${name} is a method`);
        const method = metadataOf<RequestMethod>(METHOD_METADATA, handler);
        if (method === undefined || method === RequestMethod.ALL) continue;
        const info = metadataOf<RouteInfo>(ROUTE_INFO, handler);
        for (const base of bases) {
          for (const path of pathsOf(handler)) {
            collect(byPattern, {
              method: RequestMethod[method],
              pattern: normalize(`/${base}/${path}`),
              handler: `${metatype.name}.${name}`,
              info,
              prototype: ownerOf(prototype, name),
              name,
            });
          }
        }
      }
    }
    return [...byPattern.values()].sort((a, b) => rank(a.pattern) - rank(b.pattern));
  }
}

/** Returns the first segments of a path: `/api/v2/teams` for `/api/v2/teams/7/users`. */
const collectionOf = (path: string): string => path.split('/', 4).join('/');

/** Groups the entries that a path of each collection can match, so that a lookup tests few patterns. */
function byCollection(entries: readonly TableEntry[]): Map<string, TableEntry[]> {
  const own = entries.map((entry) => ({ entry, name: collectionOf(entry.pattern) }));
  const matching = (name: string): TableEntry[] =>
    own.filter((one) => one.name === name || one.name.includes(':')).map(({ entry }) => entry);
  return new Map([...new Set(own.map(({ name }) => name))].map((name) => [name, matching(name)]));
}

function collect(byPattern: Map<string, TableEntry>, route: TableRoute): void {
  const entry = byPattern.get(route.pattern) ?? {
    pattern: route.pattern,
    matcher: matcherOf(route.pattern),
    routes: new Map<string, TableRoute>(),
  };
  if (!entry.routes.has(route.method)) entry.routes.set(route.method, route);
  byPattern.set(route.pattern, entry);
}

/** Returns the prototype in the chain that defines the method itself. */
function ownerOf(prototype: object, name: string): object {
  const above: unknown = Object.getPrototypeOf(prototype);
  const isOwn = Object.hasOwn(prototype, name) || typeof above !== 'object' || above === null;
  return isOwn ? prototype : ownerOf(above, name);
}

const normalize = (path: string): string => path.replace(/\/+/g, '/').replace(/\/$/, '') || '/';

const matcherOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
      .join('/')}$`,
  );

const rank = (pattern: string): number => (pattern.match(/:/g) ?? []).length;

/**
 * Returns the `Allow` header of an entry, separated by comma and space as clients parse it.
 *
 * @param without methods that the object of this URL never accepts, from any caller
 */
export function allowOf(entry: TableEntry, without: readonly string[] = []): string {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
    (method) => entry.routes.has(method) && !without.includes(method),
  );
  if (entry.routes.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
}
