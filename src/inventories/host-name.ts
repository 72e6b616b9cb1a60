import { isIPv6 } from 'node:net';
import { Invalid } from '../common/errors/errors.js';

export const MAX_PORT = 65_535;

/** Names with a special meaning in the inventory document, which groups must not have. */
export const RESERVED_GROUP_NAMES: ReadonlySet<string> = new Set(['all', 'ungrouped', '_meta']);

/** Implicit groups of every inventory: Ansible refuses hosts with these names. */
export const IMPLICIT_GROUPS: ReadonlySet<string> = new Set(['all', 'ungrouped']);

/**
 * Parses a host name as clients write it: `web:2222` is the host `web` with port 2222. A text with
 * no colon or several colons (IPv6 addresses) is only a name
 * (docs/contract/resources.md#host-names).
 *
 * @throws Invalid for an invalid port, a port without a name, or the name of an implicit group
 */
export function splitHostName(name: string): { name: string; port: number | null } {
  const split = splitOffPort(name);
  if (IMPLICIT_GROUPS.has(split.name)) throw Invalid.field('name', 'Invalid host name.');
  return split;
}

/**
 * Returns true for the name of a host that `--limit` reads as a pattern, which can match other hosts. Names from
 * inventory sources can have any characters, and owners of machines choose them.
 */
export const isHostPattern = (name: string): boolean =>
  /^[\s!&~@]|[*?[,]|\s$/.test(name) || (name.includes(':') && !isIPv6(name));

/**
 * Returns a limit that matches only the hosts with these names, none of which is a pattern. Ansible divides a
 * single name at spaces and brackets into several, and an address with a zone at colons, but not the names of a
 * list.
 */
export const limitTo = (names: readonly string[]): string => {
  const limit = names.join(',');
  return /^[^,]*[\s\]%][^,]*$/.test(limit) ? `${limit},` : limit;
};

function splitOffPort(name: string): { name: string; port: number | null } {
  const parts = name.split(':');
  const [host = '', port = ''] = parts;
  if (parts.length !== 2) return { name, port: null };
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > MAX_PORT) {
    throw Invalid.field('name', `Invalid port specification: ${port}`);
  }
  if (host.trim() === '') throw Invalid.field('name', 'This field may not be blank.');
  return { name: host, port: number };
}
