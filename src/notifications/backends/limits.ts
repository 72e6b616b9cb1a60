const ELLIPSIS = '…';

/** Shortens a text to `max` bytes of UTF-8 with an ellipsis, and never splits a character. */
export function truncateBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  const available = max - Buffer.byteLength(ELLIPSIS);
  let size = 0;
  let prefix = '';
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > available) break;
    prefix += character;
  }
  return `${prefix}${ELLIPSIS}`;
}

/**
 * Returns the text as one line without control characters, so that line-based protocols never see a
 * second line.
 */
export function toSingleLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ').trim();
}
