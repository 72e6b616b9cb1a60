import type { Configuration } from './backend.js';

/** A text key; "" when absent. */
export function textOf(config: Configuration, key: string): string {
  const value = config[key];
  return typeof value === 'string' ? value : '';
}

/** A whole number; null when absent, "" or not a number (`dashboardId` may be "" for none). */
export function intOf(config: Configuration, key: string): number | null {
  const value = config[key];
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** A yes/no key with the given value when absent. */
export function flagOf(config: Configuration, key: string, absent = false): boolean {
  const value = config[key];
  return typeof value === 'boolean' ? value : absent;
}

/** A list of texts; empty when absent. */
export function listOf(config: Configuration, key: string): string[] {
  const value = config[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** An object of texts; empty when absent. */
export function textsByNameOf(config: Configuration, key: string): Record<string, string> {
  const value = config[key];
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}
