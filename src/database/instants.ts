/**
 * Writes an instant of PostgreSQL or of a Date as answers show it: UTC with `Z`, and microseconds in six digits or
 * not at all, as Python does. PostgreSQL leaves trailing zeros out.
 */
export function instantText(text: string): string {
  const instant = text.replace(' ', 'T').replace(/(?:\+00(?::00)?|Z)$/, '');
  const point = instant.indexOf('.');
  return `${point < 0 ? instant : instant.padEnd(point + 7, '0')}Z`;
}

/** The same of an instant in PostgreSQL's JSON; other values as they are. */
export const instantOf = <Value>(value: Value): Value | string =>
  typeof value === 'string' ? instantText(value) : value;
