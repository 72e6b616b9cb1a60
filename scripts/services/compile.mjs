import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

/** Files whose change makes all compiled output stale. */
const COMPILER_INPUTS = ['.swcrc', 'package-lock.json', 'scripts/services/compile.mjs'];

/**
 * Compiles the TypeScript of a folder to `dist/<folder>` with SWC and copies all other files there. Skips output
 * that is newer than its source, and removes output without a source. Types are checked by `npm run check`, not
 * here.
 *
 * @param {string} root of the project
 * @param {string} folder below `root`
 * @returns {Promise<number>} files written
 */
export async function compileFolder(root, folder) {
  const [from, to] = [join(root, folder), join(root, 'dist', folder)];
  const sources = filesUnder(from).filter((path) => !/\.d\.m?ts$/.test(path));
  const outputs = new Map(sources.map((path) => [path.replace(/\.ts$/, '.js'), path]));
  for (const output of filesUnder(to)) {
    if (!outputs.has(output.replace(/\.map$/, ''))) rmSync(join(to, output));
  }
  const inputsChangedAt = Math.max(...COMPILER_INPUTS.map((name) => changedAt(join(root, name))));
  const stale = [...outputs].filter(
    ([output, source]) =>
      changedAt(join(to, output)) < Math.max(inputsChangedAt, changedAt(join(from, source))),
  );
  for (const [output] of stale) mkdirSync(dirname(join(to, output)), { recursive: true });
  await Promise.all(
    stale.map(([output, source]) => write(root, join(from, source), join(to, output))),
  );
  return stale.length;
}

/**
 * @param {string} root
 * @param {string} source
 * @param {string} output
 */
async function write(root, source, output) {
  if (extname(source) !== '.ts') {
    cpSync(source, output);
    return;
  }
  const { transformFile } = await import('@swc/core');
  const { code, map } = await transformFile(source, { cwd: root, sourceMaps: true });
  writeFileSync(`${output}.map`, map ?? '');
  writeFileSync(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
}

/**
 * Returns the time of the last change in ms; 0 for a missing file.
 *
 * @param {string} path
 */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Returns the files below a folder, as paths relative to the folder.
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
