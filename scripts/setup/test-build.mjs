import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { withLock } from '../processes/lock.mjs';

/** Whose changes make everything that was compiled stale. */
const COMPILER = ['.swcrc', 'package-lock.json'];

/**
 * Compiles `test` to `dist/test`, beside the build whose modules the tests import. What is newer
 * than its source stays; what has no source any more goes. Resolves to what was done.
 *
 * @param {string} root
 */
export async function compileTests(root) {
  return withLock(join(root, 'dist', '.lock'), async () => {
    const [from, to] = [join(root, 'test'), join(root, 'dist', 'test')];
    const sources = filesUnder(from).filter((path) => path.endsWith('.ts'));
    const outputs = new Map(sources.map((path) => [path.replace(/\.ts$/, '.js'), path]));
    for (const output of filesUnder(to)) if (!outputs.has(output)) rmSync(join(to, output));
    const oldest = Math.max(...COMPILER.map((name) => changedAt(join(root, name))));
    const stale = [...outputs].filter(
      ([output, source]) =>
        changedAt(join(to, output)) < Math.max(oldest, changedAt(join(from, source))),
    );
    if (stale.length === 0) return 'up to date';
    const { transformFileSync } = await import('@swc/core');
    for (const [output, source] of stale) {
      mkdirSync(dirname(join(to, output)), { recursive: true });
      const { code } = transformFileSync(join(from, source), { cwd: root });
      writeFileSync(join(to, output), code);
    }
    return `${stale.length} compiled`;
  });
}

/**
 * Milliseconds, 0 where there is no file.
 *
 * @param {string} path
 */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Paths below a folder, relative to it.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function filesUnder(folder) {
  if (!statSync(folder, { throwIfNoEntry: false })) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}
