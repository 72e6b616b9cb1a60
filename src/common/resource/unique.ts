import { sqlState } from '../../database/sql-state.js';
import { Invalid } from '../errors/errors.js';
import { memberOf } from '../records.js';
import type { ResourceDefinition } from './define-resource.js';

const UNIQUE_VIOLATION = '23505';

/**
 * Returns the contract's 400 for a violated unique constraint that the resource declares, else undefined.
 */
function uniqueViolation(definition: ResourceDefinition, error: unknown): Invalid | undefined {
  if (sqlState(error) !== UNIQUE_VIOLATION) return undefined;
  const constraint = memberOf(error, 'constraint');
  const rule = definition.unique.find(({ name }) => name === constraint);
  return rule ? Invalid.field(rule.field, rule.message) : undefined;
}

/** Runs a write and converts a violated unique constraint to its validation error. */
export async function withUniqueRules<T>(
  definition: ResourceDefinition,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw uniqueViolation(definition, error) ?? error;
  }
}
