/**
 * Formats an instant of PostgreSQL or of a Date for responses: UTC with `Z`, with six digits of
 * microseconds or none, as Python does. PostgreSQL omits trailing zeros.
 */
export function instantText(text: string): string {
  const instant = text.replace(' ', 'T').replace(/(?:\+00(?::00)?|Z)$/, '');
  const point = instant.indexOf('.');
  return `${point < 0 ? instant : instant.padEnd(point + 7, '0')}Z`;
}

/** Formats an instant in PostgreSQL's JSON; returns other values unchanged. */
export const instantOf = <Value>(value: Value): Value | string =>
  typeof value === 'string' ? instantText(value) : value;
