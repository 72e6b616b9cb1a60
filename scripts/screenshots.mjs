/**
 * `npm run screenshots`: takes the pictures of `docs/screenshots` anew, from the same pages that the
 * tests look at. Needs Chromium on PATH or in CHROMIUM_PATH; brings its own PostgreSQL and Redis.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'docs', 'screenshots');
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) {
  if (name.endsWith('.png')) rmSync(join(folder, name));
}
const test = [join(root, 'scripts', 'test.mjs'), 'test/browser/main-pages'];
const { status } = spawnSync(process.execPath, [...test, '--selectProjects', 'browser'], {
  cwd: root,
  stdio: 'inherit',
  // Without a browser the tests would be left out; here that is a fault.
  env: { ...process.env, PICTURES: folder, CI: '1' },
});
process.exitCode = status ?? 1;
