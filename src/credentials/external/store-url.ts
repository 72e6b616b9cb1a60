import { LookupError } from './lookup-error.js';

/** Removes the slashes at the end of a URL. */
export const baseOf = (url: string): string => url.replace(/\/+$/, '');

/**
 * Returns the segments of a path, encoded for a URL.
 *
 * @throws LookupError for segments that lead to another path
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
 * @throws LookupError if it is empty or leads to another path
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

export const FORM_HEADERS = { 'Content-Type': 'application/x-www-form-urlencoded' } as const;
export const JSON_HEADERS = { 'Content-Type': 'application/json' } as const;

/** Returns the header of a bearer token. */
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Returns the body of a form. */
export const formBody = (fields: Record<string, string>): string =>
  new URLSearchParams(fields).toString();
