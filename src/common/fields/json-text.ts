/**
 * JSON with `, ` and `: ` between members, as Python's `json.dumps` writes it and clients of this kind of
 * API compare it; letters of all scripts stay readable.
 */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return objectText(value, jsonText);
  return JSON.stringify(value);
}

/** Variables as `jsonText`; the text of a value that stands under several names is made once. */
export function variablesText(variables: Readonly<Record<string, unknown>>): string {
  const texts = new Map<unknown, string>();
  return objectText(variables, (value) => {
    const text = texts.get(value) ?? jsonText(value);
    texts.set(value, text);
    return text;
  });
}

function objectText(members: object, textOf: (value: unknown) => string): string {
  const texts = Object.entries(members).map(
    ([name, value]) => `${JSON.stringify(name)}: ${textOf(value)}`,
  );
  return `{${texts.join(', ')}}`;
}
