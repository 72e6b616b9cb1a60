import type { ResourceDefinition } from './define-resource.js';

const byType = new Map<string, ResourceDefinition>();

/** Registers a resource for `defineResource`. Two resources of one type are a programming error. */
export function register(definition: ResourceDefinition): void {
  if (byType.has(definition.type)) throw new Error(`Resource ${definition.type} is defined twice`);
  byType.set(definition.type, definition);
}

/** Returns the definition of a type, for references that would otherwise cause circular imports. */
export function resource(type: string): ResourceDefinition {
  const found = byType.get(type);
  if (!found) throw new Error(`No resource of type ${type}`);
  return found;
}

export const findResource = (type: string): ResourceDefinition | undefined => byType.get(type);

export const resources = (): readonly ResourceDefinition[] => [...byType.values()];
