const NEEDS_ESCAPE = /["\\]/g;

/**
 * A list of numbers, texts, booleans and nulls as PostgreSQL reads it. The driver writes every element as
 * a text of its own, which is most of what a statement of many rows costs before it is sent.
 *
 * @returns null for a list that holds anything else: that is left to the driver
 */
export function arrayLiteral(values: readonly unknown[]): string | null {
  let text = '{';
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'number' || typeof value === 'boolean') text += String(value);
    else if (typeof value === 'string') text += `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`;
    else return null;
  }
  return `${text}}`;
}
