import { parseDocument } from 'yaml';

/** PostgreSQL text takes neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

export const INT4_MAX = 2_147_483_647;
export const INT4_MIN = -2_147_483_648;
/** Nesting that JSON bodies and variables may have; deeper input is refused. */
export const MAX_DEPTH = 64;

/** Whether every text of a JSON value is storable and the nesting is within bounds. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (value === null || typeof value !== 'object') return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(
    ([key, child]) => isStorable(key) && isStorableJson(child, depth + 1),
  );
}

/**
 * Reads variables: a JSON object, else a YAML mapping; empty text is an empty object.
 *
 * @throws Error with the contract's text when it is neither (core 1.6)
 */
export function parseVariables(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let jsonError: string;
  try {
    const value: unknown = JSON.parse(text);
    if (isMapping(value)) return value;
    jsonError = 'not an object';
  } catch (error) {
    jsonError = (error as Error).message;
  }
  let yamlError: string;
  try {
    const document = parseDocument(text, { merge: true, prettyErrors: false });
    if (document.errors.length > 0) throw document.errors[0]!;
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null) return {};
    if (isMapping(value) && isStorableJson(value)) return value;
    yamlError = 'not a mapping';
  } catch (error) {
    yamlError = (error as Error).message;
  }
  throw new Error(`Cannot parse as JSON (error: ${jsonError}) or YAML (error: ${yamlError}).`);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
