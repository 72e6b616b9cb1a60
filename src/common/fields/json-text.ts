import { entriesOf, written } from '../exact-json.js';

/**
 * JSON with `, ` and `: ` between members, as Python's `json.dumps` writes it and clients of this kind of
 * API compare it; letters of all scripts stay readable.
 */
export const jsonText = (value: unknown): string => written(value, ', ', ': ');

/** Variables as `jsonText`; the text of a value that stands under several names is made once. */
export function variablesText(variables: Readonly<Record<string, unknown>>): string {
  const texts = new Map<unknown, string>();
  const members = entriesOf(variables).map(([name, value]) => {
    const text = texts.get(value) ?? jsonText(value);
    texts.set(value, text);
    return `${JSON.stringify(name)}: ${text}`;
  });
  return `{${members.join(', ')}}`;
}
