import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { BrokenInvariant } from '../invariants.js';
import type { RouteInfo } from './route.js';

/** Where a route is, as far as its own decorators tell; the controller's path comes in front. */
export interface RoutePlace {
  /** In capitals. */
  method: string;
  /** Names of the parameters of the whole path, in its order. */
  parameters: readonly string[];
}

/** @throws BrokenInvariant when `@Route` stands below the verb of its method, or alone */
export function placeOf(handler: object, { parent, operationId }: RouteInfo): RoutePlace {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) throw new BrokenInvariant(`${operationId} has its verb below @Route`);
  const paths = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
  const own = paths.flatMap((path) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name));
  // The object in the URL may stand in the path of the controller already.
  return {
    method: RequestMethod[method],
    parameters: [...new Set([...(parent ? ['id'] : []), ...own])],
  };
}
