import type { IncomingHttpHeaders } from 'node:http';

/**
 * Headers of a received request. `rawHeaders` (name, value, name, value, ...) distinguishes a repeated
 * header from one value with a comma; without it the parsed map is used.
 */
export interface ReceivedHeaders {
  headers: IncomingHttpHeaders;
  rawHeaders?: readonly string[];
}

/** Accepted aliases by header name, all in lower case. */
export type HeaderAliases = ReadonlyMap<string, readonly string[]>;

/**
 * Header names of the real services, so that their webhooks can be sent to a receiver unchanged. Each
 * entry is `header=alias`; the setting `WEBHOOK_HEADER_ALIASES` can disable all aliases.
 *
 * The real service B also sends an id per originating event. Webhooks of different kinds for one event
 * share that id, so as a delivery id it would drop all but the first; it is therefore not an alias.
 */
const DEFAULT_WEBHOOK_HEADER_ALIASES: readonly string[] = [
  'X-Service-A-Event=X-GitHub-Event',
  'X-Service-A-Delivery=X-GitHub-Delivery',
  'X-Service-A-Signature=X-Hub-Signature',
  'X-Service-A-Signature-256=X-Hub-Signature-256',
  'X-Service-B-Event=X-Gitlab-Event',
  'X-Service-B-Token=X-Gitlab-Token',
  'X-Service-C-Event=X-Event-Key',
  'X-Service-C-Request-Id=X-Request-Id',
  'X-Service-C-Signature=X-Hub-Signature',
];

const ENTRY = /^([\w-]{1,64})=([\w-]{1,64})$/;

/**
 * Parses a table of aliases.
 *
 * @throws Error listing every entry that is not `Header=Alias`
 */
export function parseHeaderAliases(entries: readonly string[]): HeaderAliases {
  const aliases = new Map<string, string[]>();
  const faults: string[] = [];
  for (const entry of entries) {
    const [, header, alias] = ENTRY.exec(entry.trim()) ?? [];
    if (header === undefined || alias === undefined) {
      faults.push(entry);
      continue;
    }
    const names = aliases.get(header.toLowerCase()) ?? [];
    aliases.set(header.toLowerCase(), [...names, alias.toLowerCase()]);
  }
  if (faults.length > 0) {
    throw new Error(`Webhook header aliases must read "Header=Alias": ${faults.join(', ')}`);
  }
  return aliases;
}

export const DEFAULT_HEADER_ALIASES: HeaderAliases = parseHeaderAliases(
  DEFAULT_WEBHOOK_HEADER_ALIASES,
);

/** Returns the name of a header at the real service; the name itself without an alias. */
export function productHeader(name: string): string {
  const entry = DEFAULT_WEBHOOK_HEADER_ALIASES.find((entry) => entry.startsWith(`${name}=`));
  return entry?.slice(name.length + 1) ?? name;
}

export const NO_ALIASES: HeaderAliases = new Map();

/** Returns the aliases for a value of the setting `WEBHOOK_HEADER_ALIASES`. */
export const headerAliases = (enabled: boolean): HeaderAliases =>
  enabled ? DEFAULT_HEADER_ALIASES : NO_ALIASES;

/**
 * Returns all values of a header and its aliases, for signatures: a second value under any name
 * must be refused.
 */
export function headerValues(
  received: ReceivedHeaders,
  name: string,
  aliases: HeaderAliases,
): string[] {
  return acceptedNames(name, aliases).flatMap((acceptedName) => valuesOf(received, acceptedName));
}

/**
 * Returns the value of a header, else of its first alias that is present. Proxies add some of the aliases
 * themselves, so aliases must not interfere with the header. Returns null if the value is missing, empty
 * or repeated.
 */
export function singleHeader(
  received: ReceivedHeaders,
  name: string,
  aliases: HeaderAliases,
): string | null {
  for (const acceptedName of acceptedNames(name, aliases)) {
    const [value, ...more] = valuesOf(received, acceptedName);
    if (value !== undefined) return value === '' || more.length > 0 ? null : value;
  }
  return null;
}

function acceptedNames(name: string, aliases: HeaderAliases): string[] {
  const header = name.toLowerCase();
  return [header, ...(aliases.get(header) ?? [])];
}

function valuesOf({ headers, rawHeaders }: ReceivedHeaders, name: string): string[] {
  if (!rawHeaders) {
    const value = headers[name];
    return value === undefined ? [] : [value].flat();
  }
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1];
    if (value !== undefined && rawHeaders[index]?.toLowerCase() === name) values.push(value);
  }
  return values;
}
