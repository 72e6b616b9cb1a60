import type { ResourceDefinition } from './define-resource.js';

const links = new WeakMap<ResourceDefinition, Map<string, string>>();

/**
 * Says that each object of a resource has a URL below its own: `related` shows it. Called by the
 * decorators of routes, as their classes are declared.
 *
 * @param name key in `related`
 * @param path what follows the object's own URL, without slashes around it
 */
export function declareLink(definition: ResourceDefinition, name: string, path: string): void {
  const own = links.get(definition) ?? new Map<string, string>();
  links.set(definition, own.set(name, path));
}

/** URLs below the objects of a resource, as paths by name. */
export const linksOf = (definition: ResourceDefinition): ReadonlyMap<string, string> =>
  links.get(definition) ?? new Map();

/** Class decorators run from the last to the first; `related` shows links as they are written. */
export function linksAsWritten(definition: ResourceDefinition): void {
  links.set(definition, new Map([...linksOf(definition)].reverse()));
}
