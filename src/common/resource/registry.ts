import { definitionOf, definitions } from '../fields/field.js';
import type { ResourceDefinition } from './define-resource.js';

/** Registers a resource for `defineResource`. Two resources of one type are a programming error. */
export function register(definition: ResourceDefinition): void {
  if (definitions.has(definition.type))
    throw new Error(`Resource ${definition.type} is defined twice`);
  definitions.set(definition.type, definition);
}

/** Returns the definition of a type, for references that would otherwise cause circular imports. */
export const resource = definitionOf;

export const findResource = (type: string): ResourceDefinition | undefined => definitions.get(type);

export const resources = (): readonly ResourceDefinition[] => [...definitions.values()];
