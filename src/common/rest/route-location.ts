import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { BrokenInvariant, itemAt } from '../invariants.js';
import type { RouteInfo } from './route.js';

/** Location of a route according to its own decorators. The controller's path precedes it. */
export interface RouteLocation {
  /** HTTP method in capitals. */
  method: string;
  /** Names of the parameters of the whole path, in order. */
  parameters: readonly string[];
  /** Part of the handler's own path after `:id/`; empty if the controller's path contains everything. */
  belowParent: string;
}

/** @throws BrokenInvariant unless `@Route` stands above an HTTP method decorator */
export function locationOf(handler: unknown, { parent, operationId }: RouteInfo): RouteLocation {
  if (typeof handler !== 'function') throw new BrokenInvariant(`${operationId} is a method`);
  const method = metadataOf<RequestMethod>(METHOD_METADATA, handler);
  if (method === undefined) throw new BrokenInvariant(`${operationId} has its verb below @Route`);
  const paths = pathsOf(handler);
  const names = paths.flatMap((path) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name));
  // The controller's path can already contain the `:id` of the object.
  return {
    method: RequestMethod[method],
    parameters: [...new Set([...(parent ? ['id'] : []), ...names])],
    belowParent: itemAt(paths, 0).replace(/^(?::id)?\/?/, ''),
  };
}

/** Returns the paths that the decorators of a controller or a handler declare. */
export function pathsOf(decorated: object): string[] {
  return [metadataOf<string | string[]>(PATH_METADATA, decorated) ?? []].flat();
}

/**
 * Returns the metadata that a decorator stored on a class, method or parameter, or undefined. The caller
 * chooses the type, which only the decorator knows.
 *
 * @param property name of the member, if `target` is the class or prototype that has it
 */
export const metadataOf = <Stored>(
  key: string,
  target: object,
  property?: string | symbol,
): Stored | undefined =>
  (property === undefined
    ? Reflect.getMetadata(key, target)
    : Reflect.getMetadata(key, target, property)) as Stored | undefined;
