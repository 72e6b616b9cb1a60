/** Types of the values that modules receive and send. */
export type Item = Record<string, unknown>;

/**
 * Writes JSON as Python's standard library does: a space after every comma and colon, and only ASCII. The
 * collection sends variables as such texts and compares them literally.
 */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (isItem(value)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${ascii(key)}: ${pythonJson(member)}`);
    return `{${members.join(', ')}}`;
  }
  return typeof value === 'string' ? ascii(value) : JSON.stringify(value ?? null);
}

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts to boolean as Python does: empty values are false. */
export function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isItem(value) ? Object.keys(value).length > 0 : Boolean(value);
}

const ascii = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
