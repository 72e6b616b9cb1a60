import { textMembers } from '../../common/records.js';
import type { Configuration } from './backend.js';

/**
 * Returns a whole number; null if absent, "" or not a number (`dashboardId` can be "" for none).
 */
export function intOf(config: Configuration, key: string): number | null {
  const value = config[key];
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** Returns the value of a boolean key; `absent` if the key is absent. */
export function flagOf(config: Configuration, key: string, absent = false): boolean {
  const value = config[key];
  return typeof value === 'boolean' ? value : absent;
}

/** Returns a list of texts; empty if absent. */
export function configuredListOf(config: Configuration, key: string): string[] {
  const value = config[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns the configured headers by name; empty if absent. */
export function configuredHeaders({ headers }: Configuration): Record<string, string> {
  return typeof headers === 'object' && headers !== null ? textMembers(headers) : {};
}
