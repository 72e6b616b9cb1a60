import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner can read, at once: a reader never sees half of it. */
export function writePrivate(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

/** The parsed content of a JSON file; null when it is missing or damaged. */
export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The text of a file without its last line break; null when it is missing. */
export function readText(path) {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
