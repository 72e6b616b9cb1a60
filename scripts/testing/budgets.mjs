import { readFileSync } from 'node:fs';

/** Budget in the first comment of a test file that needs more time: ` * Budget: 45 s, because ...`. */
const DECLARED = /^\s*\* Budget: (\d+) s, because \S/m;
/** Number of characters at the start of a file that contain its first comment. */
const HEAD = 2000;

/**
 * Returns the budget in seconds that a test file declares in its first comment; null if it declares none.
 *
 * @param {string} path
 */
export function declaredBudget(path) {
  const declared = DECLARED.exec(readFileSync(path, 'utf8').slice(0, HEAD))?.[1];
  return declared ? Number(declared) : null;
}
