import type { IncomingHttpHeaders } from 'node:http';

/**
 * The headers of a received request. `rawHeaders` (name, value, name, value, ...) is what tells a
 * repeated header from one value with a comma; without it the parsed map is used.
 */
export interface ReceivedHeaders {
  headers: IncomingHttpHeaders;
  rawHeaders?: readonly string[];
}

/** Our header name in lower case -> other names accepted for the same meaning, in lower case. */
export type HeaderAliases = ReadonlyMap<string, readonly string[]>;

/**
 * The header names that the real services send, so that a real hook can be pointed at a receiver
 * unchanged. Each entry is `ours=alias`; the setting `WEBHOOK_HEADER_ALIASES` turns all of them off.
 *
 * The real service B also sends an id per originating event, but hooks of different kinds caused by
 * one event share it: as a delivery id it would drop all but the first, so it is no alias.
 */
export const DEFAULT_WEBHOOK_HEADER_ALIASES: readonly string[] = [
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

/** Reads a table of aliases. @throws Error that lists every entry which is not `Header=Alias`. */
export function parseHeaderAliases(entries: readonly string[]): HeaderAliases {
  const aliases = new Map<string, string[]>();
  const faults: string[] = [];
  for (const entry of entries) {
    const [, ours, alias] = ENTRY.exec(entry.trim()) ?? [];
    if (ours === undefined || alias === undefined) {
      faults.push(entry);
      continue;
    }
    const names = aliases.get(ours.toLowerCase()) ?? [];
    aliases.set(ours.toLowerCase(), [...names, alias.toLowerCase()]);
  }
  if (faults.length > 0) {
    throw new Error(`Webhook header aliases must read "Header=Alias": ${faults.join(', ')}`);
  }
  return aliases;
}

export const DEFAULT_HEADER_ALIASES: HeaderAliases = parseHeaderAliases(
  DEFAULT_WEBHOOK_HEADER_ALIASES,
);

export const NO_ALIASES: HeaderAliases = new Map();

/** The aliases that hold while the setting `WEBHOOK_HEADER_ALIASES` is on or off. */
export const headerAliases = (enabled: boolean): HeaderAliases =>
  enabled ? DEFAULT_HEADER_ALIASES : NO_ALIASES;

/**
 * Every value received under our name and its aliases together: for signatures, where a second
 * value under any name is a reason to refuse.
 */
export function headerValues(
  received: ReceivedHeaders,
  name: string,
  aliases: HeaderAliases,
): string[] {
  return acceptedNames(name, aliases).flatMap((wanted) => valuesOf(received, wanted));
}

/**
 * The value under our name, else under the first alias that is present: proxies add some of the
 * aliases on their own, so they must not disturb our names. Null when it is missing, empty or repeated.
 */
export function singleHeader(
  received: ReceivedHeaders,
  name: string,
  aliases: HeaderAliases,
): string | null {
  for (const wanted of acceptedNames(name, aliases)) {
    const [value, ...more] = valuesOf(received, wanted);
    if (value !== undefined) return value === '' || more.length > 0 ? null : value;
  }
  return null;
}

function acceptedNames(name: string, aliases: HeaderAliases): string[] {
  const ours = name.toLowerCase();
  return [ours, ...(aliases.get(ours) ?? [])];
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
