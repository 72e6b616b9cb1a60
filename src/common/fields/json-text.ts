import { entriesOf, writeJson } from '../exact-json.js';

/**
 * Returns JSON with the separators `, ` and `: ` of Python's `json.dumps`, because clients compare the text.
 * Non-ASCII letters are not escaped.
 */
export const jsonText = (value: unknown): string => writeJson(value, ', ', ': ');

/** Returns variables in the format of `jsonText`. A value that several names share is serialized once. */
export function variablesText(variables: Readonly<Record<string, unknown>>): string {
  const texts = new Map<unknown, string>();
  const members = entriesOf(variables).map(([name, value]) => {
    const text = texts.get(value) ?? jsonText(value);
    texts.set(value, text);
    return `${JSON.stringify(name)}: ${text}`;
  });
  return `{${members.join(', ')}}`;
}
