import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { BrokenInvariant, itemAt } from '../invariants.js';
import { metadataOf } from './metadata.js';
import type { RouteInfo } from './route.js';

/** Where a route is, as far as its own decorators tell; the controller's path comes in front. */
export interface RoutePlace {
  /** In capitals. */
  method: string;
  /** Names of the parameters of the whole path, in its order. */
  parameters: readonly string[];
  /** What follows `:id/` in the handler's own path; empty where the controller's path has it all. */
  belowParent: string;
}

/** @throws BrokenInvariant when `@Route` stands below the verb of its method, or alone */
export function placeOf(handler: unknown, { parent, operationId }: RouteInfo): RoutePlace {
  if (typeof handler !== 'function') throw new BrokenInvariant(`${operationId} is a method`);
  const method = metadataOf<RequestMethod>(METHOD_METADATA, handler);
  if (method === undefined) throw new BrokenInvariant(`${operationId} has its verb below @Route`);
  const paths = pathsOf(handler);
  const own = paths.flatMap((path) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name));
  // The object in the URL may stand in the path of the controller already.
  return {
    method: RequestMethod[method],
    parameters: [...new Set([...(parent ? ['id'] : []), ...own])],
    belowParent: itemAt(paths, 0).replace(/^(?::id)?\/?/, ''),
  };
}

/** What the decorators of a controller or a handler say of its path. */
export function pathsOf(decorated: object): string[] {
  return [metadataOf<string | string[]>(PATH_METADATA, decorated) ?? []].flat();
}
