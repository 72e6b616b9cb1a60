import { readFileSync } from 'node:fs';

/** A file that needs more than the others says so in its first comment: ` * Budget: 45 s, because ...`. */
const DECLARED = /^\s*\* Budget: (\d+) s, because \S/m;
/** Characters of a file in which its first comment is. */
const HEAD = 2000;

/**
 * Returns the seconds that a test file asks for in its first comment; null where it asks for none.
 *
 * @param {string} path
 */
export function declaredBudget(path) {
  const declared = DECLARED.exec(readFileSync(path, 'utf8').slice(0, HEAD))?.[1];
  return declared ? Number(declared) : null;
}
