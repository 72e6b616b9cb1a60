/**
 * `npm run build`: compiles src and migrations to dist, copies what is not TypeScript beside it,
 * and removes output whose source is gone (a deleted migration must not run from dist).
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BUILD_STAMP, sourceHash } from './services/packages.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

// Taken before the compiler reads: a source that changes meanwhile is built again next time.
const hash = sourceHash(root);
mkdirSync(dist, { recursive: true });
rmSync(join(root, BUILD_STAMP), { force: true });
if (!existsSync(join(dist, 'src'))) rmSync(join(dist, '.tsbuildinfo'), { force: true });

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

for (const folder of ['src', 'migrations']) {
  copyAssets(join(root, folder));
  if (existsSync(join(dist, folder))) removeOrphans(join(dist, folder));
}
writeFileSync(join(root, BUILD_STAMP), `${hash}\n`);

/** @param {string} folder */
function copyAssets(folder) {
  for (const file of filesUnder(folder)) {
    if (/\.[cm]?tsx?$/.test(file)) continue;
    const target = join(dist, relative(root, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

/** @param {string} folder */
function removeOrphans(folder) {
  for (const file of filesUnder(folder)) {
    const source = join(root, relative(dist, file));
    const typescript = source.replace(/\.(js|d\.ts)(\.map)?$/, '.ts');
    if (!existsSync(source) && !existsSync(typescript)) rmSync(file);
  }
}

/** @param {string} folder */
function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
