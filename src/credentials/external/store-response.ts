import type { OutboundResponse } from '../../outbound/outbound-client.js';
import { resultOr } from '../../common/errors/errors.js';
import { isRecord, memberOf } from '../../common/records.js';
import { LookupError } from './lookup-error.js';
import { withoutTrailing } from '../../common/fields/text.js';

/**
 * Returns the body of a store's response.
 *
 * @throws LookupError if the response is too large
 */
export function textIn({ body, truncated }: OutboundResponse): string {
  if (truncated) throw new LookupError('The response is too large.');
  return body;
}

/**
 * Returns the JSON object in a store's response.
 *
 * @throws LookupError
 */
export function objectIn(response: OutboundResponse): Record<string, unknown> {
  const text = textIn(response);
  const value = resultOr((): unknown => JSON.parse(text), null);
  if (!isRecord(value)) throw new LookupError('The response is not a JSON object.');
  return value;
}

/**
 * Returns the token in the response to a login.
 *
 * @throws LookupError
 */
export function tokenIn(response: OutboundResponse, key: string): string {
  return tokenOf(memberOf(objectIn(response), key));
}

/** @throws LookupError if the value is not a token */
export function tokenOf(value: unknown): string {
  // The token becomes a header. A line break in the header would fail with a misleading message.
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new LookupError('The store responded to the login without a token.');
}

/**
 * Returns a member of a store's object as the text of an input.
 *
 * @param secretName name of the secret in messages
 * @throws LookupError if the member is missing
 */
export function requiredField(value: unknown, key: string, secretName: string): string {
  const found = isRecord(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null;
  if (found === null) throw new LookupError(`"${key}" is not present at ${secretName}.`);
  return storeTextOf(found);
}

/**
 * Decodes a text in Base64.
 *
 * @throws LookupError if the text is not Base64, or the decoded bytes are not UTF-8
 */
export function decodedBase64(text: string): string {
  const compact = text.replace(/\s/g, '');
  const bytes = Buffer.from(compact, 'base64');
  if (withoutTrailing(bytes.toString('base64'), '=') !== withoutTrailing(compact, '=')) {
    throw new LookupError('The value is not Base64.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LookupError('The value is binary, not a text.');
  }
}

/** Returns a value of a response as the text of an input. */
export const storeTextOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
