import { createHash } from 'node:crypto';
import { exactJson } from '../../common/exact-json.js';
import type { Field } from '../../common/fields/field.js';
import type { Item } from './value-views.js';

/** Long enough that a changed value does not have the digest of the shown value by chance. */
const DIGEST_LENGTH = 16;

/**
 * Returns the digest of each value of an object that a form shows, such as `name=5dGh…`. A digest does
 * not make the form longer if the value is a long document.
 */
export const shownValues = (object: Item, fields: readonly Field[]): string[] =>
  fields.flatMap(({ name }) => (name in object ? [entryOf(name, object[name])] : []));

/** Returns the digest of each value of a body, in the format of `shownValues`. */
export const digestsOf = (body: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(body).map(([name, value]) => entryOf(name, value));

/**
 * Removes the values that are the same as shown, so that a form does not overwrite what another user
 * changed in the meantime.
 *
 * @param shown entries of `shownValues`
 */
export function changedValues(
  body: Record<string, unknown>,
  shown: readonly string[] = [],
): Record<string, unknown> {
  const entries = new Set(shown);
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !entries.has(entryOf(name, value))),
  );
}

const entryOf = (name: string, value: unknown): string =>
  `${name}=${createHash('sha256').update(sentText(value)).digest('base64url').slice(0, DIGEST_LENGTH)}`;

/** Returns a value as the text that forms send. */
const sentText = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? exactJson(value)
    : String(value ?? '').replaceAll('\r\n', '\n');
