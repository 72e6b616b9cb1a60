import { isStars } from './mask.js';

/** Minimum length of a masked secret; shorter texts occur in other output by chance. */
export const MIN_SECRET_LENGTH = 3;
/** Minimum length of a masked line of a multi-line secret. Shorter lines, such as `}`, stay visible. */
const MIN_LINE_LENGTH = 8;
/** Minimum length of a part of base64 text; shorter parts match ordinary words. */
const MIN_BASE64_LENGTH = 6;

/** Returns the forms in which secrets can occur in output: plain, quoted, encoded, line by line. */
export const secretForms = (secrets: readonly string[]): Set<string> =>
  new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).flatMap(formsOf));

function formsOf(secret: string): string[] {
  const plain = [secret, ...linesOf(secret)];
  const quoted = plain.flatMap((text) => [
    jsonEscaped(text),
    jsonEscaped(jsonEscaped(text)),
    asciiJson(text),
    asciiJson(jsonEscaped(text)),
  ]);
  return [...plain, ...quoted, ...variants(secret), ...base64Forms(secret)].filter(
    (form) => form.length >= MIN_SECRET_LENGTH && !isStars(form),
  );
}

/** Returns the secret with CRLF line breaks, and with `%` doubled as in INI files. */
function variants(secret: string): string[] {
  return [secret.replaceAll('\n', '\r\n'), secret.replaceAll('%', '%%')];
}

function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.length < 2
    ? []
    : lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'));
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns the text as Python's `json.dumps` writes it. */
function asciiJson(text: string): string {
  return jsonEscaped(text).replace(
    /[\u0080-\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns the base64 forms of a secret. In a longer encoded text, such as `user:secret`, the secret starts
 * at one of three alignments.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [bytes.toString('base64'), bytes.toString('base64url')];
  for (const offset of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const stableBits = shifted.length * 8;
    const first = Math.ceil((offset * 8) / 6);
    const inner = shifted.toString('base64').slice(first, Math.floor(stableBits / 6));
    if (inner.length >= MIN_BASE64_LENGTH)
      forms.push(inner, inner.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}
