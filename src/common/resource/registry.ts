import type { ResourceDefinition } from './define-resource.js';

const byType = new Map<string, ResourceDefinition>();

/** Called by `defineResource`; two resources of one type are a fault of the programmer. */
export function register(definition: ResourceDefinition): void {
  if (byType.has(definition.type)) throw new Error(`Resource ${definition.type} is defined twice`);
  byType.set(definition.type, definition);
}

/** The definition of a type. For references that would make modules import each other. */
export function resource(type: string): ResourceDefinition {
  const found = byType.get(type);
  if (!found) throw new Error(`No resource of type ${type}`);
  return found;
}

export const findResource = (type: string): ResourceDefinition | undefined => byType.get(type);

export const resources = (): readonly ResourceDefinition[] => [...byType.values()];
