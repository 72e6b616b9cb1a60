import { readFileSync, renameSync, writeFileSync } from 'node:fs';

import { codeOf } from '../console/problem.mjs';

/**
 * Writes a file atomically. Only its owner can read the file.
 *
 * @param {string} path
 * @param {string} text
 */
export function writePrivate(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

/**
 * Returns the parsed content of a JSON file; null if the file is missing or damaged.
 *
 * @param {string} path
 */
export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Returns the text of a file without trailing white space; null if the file is missing.
 *
 * @param {string} path
 */
export function readText(path) {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
