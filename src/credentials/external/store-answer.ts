import type { OutboundResponse } from '../../common/outbound/outbound-client.js';
import { isRecord } from '../../common/records.js';
import { LookupError } from './lookup-error.js';

/**
 * Returns the JSON object in a store's response.
 *
 * @throws LookupError
 */
export function objectIn({ body, truncated }: OutboundResponse): Record<string, unknown> {
  if (truncated) throw new LookupError('The answer is too large.');
  const value = parsed(body);
  if (!isRecord(value)) throw new LookupError('The answer is not a JSON object.');
  return value;
}

function parsed(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return value;
  } catch {
    return undefined;
  }
}

/** Returns a value of a response as the text of an input. */
export const storeTextOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
