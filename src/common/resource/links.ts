import type { ResourceDefinition } from './define-resource.js';

const links = new WeakMap<ResourceDefinition, Map<string, string>>();

/**
 * Declares a path below the URL of each object of a resource, for `related`. Called by the decorators of
 * routes when their classes are declared.
 *
 * @param name key in `related`
 * @param path path below the object's own URL, without leading or trailing slash
 */
export function declareLink(definition: ResourceDefinition, name: string, path: string): void {
  const paths = links.get(definition) ?? new Map<string, string>();
  links.set(definition, paths.set(name, path));
}

/** Returns the paths below the objects of a resource, by name. */
export const linksOf = (definition: ResourceDefinition): ReadonlyMap<string, string> =>
  links.get(definition) ?? new Map();

/** Number of links of each resource that are already in source order. */
const ordered = new WeakMap<ResourceDefinition, number>();

/**
 * Puts the links of a controller in source order, as `related` shows them: class decorators run from the
 * last to the first.
 */
export function orderLinks(definition: ResourceDefinition): void {
  const all = [...linksOf(definition)];
  const done = ordered.get(definition) ?? 0;
  links.set(definition, new Map([...all.slice(0, done), ...all.slice(done).reverse()]));
  ordered.set(definition, all.length);
}
