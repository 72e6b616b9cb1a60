import type { OutboundRequest, OutboundResponse } from '../../outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';
import { LookupError } from './lookup-error.js';
import { tokenIn } from './store-response.js';
import { withoutTrailing } from '../../common/fields/text.js';

/** Location of one secret in a store: the `metadata` of an input source. */
export type SecretLocation = Readonly<Record<string, string>>;

/** Reads secrets from one store with one credential. Repeated reads are cached. */
export interface SecretReader {
  /** @throws LookupError, OutboundError */
  read(location: SecretLocation): Promise<string>;
  /**
   * Ends the logins.
   *
   * @throws LookupError, OutboundError
   */
  close?(): Promise<void>;
}

/**
 * Sends one request.
 *
 * @returns a 2xx response
 * @throws LookupError for other responses, OutboundError
 */
export type StoreCall = (
  request: OutboundRequest,
  reasonOf?: RefusalReason,
) => Promise<OutboundResponse>;

/** Returns the reason of a refusal, from a fixed list of reasons; null for an unknown reason. */
export type RefusalReason = (response: OutboundResponse) => string | null;

/** Functions for requests and logins to a store. */
export interface StoreContext {
  call: StoreCall;
  /**
   * Returns the token of the service account of the worker's pod, for one server.
   *
   * @throws LookupError if the setting does not permit the server
   */
  podToken: (url: string) => Promise<string>;
  /** Returns a token that identifies the run to one audience, for a login or for the whole run. */
  runToken: (audience: string, use: 'login' | 'run') => Promise<string>;
}

/**
 * Creates the reader of one type of store.
 *
 * @param inputs inputs of the store's credential, with secrets in clear text
 */
export type SecretStore = (inputs: CredentialInputs, context: StoreContext) => SecretReader;

/** Removes the slashes at the end of a URL. */
export const baseOf = (url: string): string => withoutTrailing(url, '/');

/**
 * Returns the segments of a path, encoded for a URL.
 *
 * @throws LookupError for the segments `.` and `..`
 */
export function pathSegments(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..')) {
    throw new LookupError('A path may not have "." or ".." in it.');
  }
  return parts.map(encodeURIComponent);
}

/**
 * Returns an input as a single segment of a path.
 *
 * @throws LookupError if the input is empty, `.` or `..`
 */
export function segmentOf(text: string, name: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new LookupError(`"${text}" is not valid for ${name}.`);
  }
  return encodeURIComponent(text);
}

/**
 * Returns an input as a part of a host name.
 *
 * @throws LookupError for texts that would name another host
 */
export function hostPartOf(text: string, name: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(text)) return text;
  throw new LookupError(`"${text}" is not valid for ${name}.`);
}

export const JSON_HEADERS = { 'Content-Type': 'application/json' } as const;

/** Returns the header of a bearer token. */
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/**
 * Requests an access token with a form.
 *
 * @throws LookupError, OutboundError
 */
export const formLogin = async (
  call: StoreCall,
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<string> =>
  tokenIn(
    await call({
      method: 'POST',
      url,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    }),
    'access_token',
  );

/** Returns the cached promise of a key, or loads the value. A rejected promise leaves the cache. */
export function once<T>(
  cache: Map<string, Promise<T>>,
  key: string,
  load: () => Promise<T>,
): Promise<T> {
  const cached = cache.get(key);
  if (cached) return cached;
  const loading = load();
  cache.set(key, loading);
  loading.catch(() => cache.delete(key));
  return loading;
}

/** Returns a function that loads the value once, and again after a failure. */
export function memoized<T>(load: () => Promise<T>): () => Promise<T> {
  const cache = new Map<string, Promise<T>>();
  return () => once(cache, '', load);
}
