/**
 * `npm run screenshots`: takes the pictures of `docs/screenshots` anew, from the same pages that the
 * tests look at. Needs Chromium on PATH or in CHROMIUM_PATH; brings its own PostgreSQL and Redis. Downloads
 * a program that reduces the pictures to palettes of 256 colors, which look the same at a third of the size.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const REDUCER = 'sharp-cli@5.2.0';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'docs', 'screenshots');
const taken = mkdtempSync(join(tmpdir(), 'screenshots-'));

const test = [join(root, 'scripts', 'test.mjs'), 'test/browser/main-pages'];
let { status } = spawnSync(process.execPath, [...test, '--selectProjects', 'browser'], {
  cwd: root,
  stdio: 'inherit',
  // Without a browser the tests would be left out; here that is a fault.
  env: { ...process.env, PICTURES: taken, CI: '1' },
});
if (status === 0) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const files = ['-i', join(taken, '*.png'), '-o', folder];
  const format = ['-f', 'png', '--palette', '--compressionLevel', '9'];
  const reduce = ['exec', '--yes', `--package=${REDUCER}`, '--', 'sharp', ...files, ...format];
  ({ status } = spawnSync('npm', reduce, { cwd: root, stdio: 'inherit' }));
}
rmSync(taken, { recursive: true });
process.exitCode = status ?? 1;
