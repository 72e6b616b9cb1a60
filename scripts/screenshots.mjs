/**
 * `npm run screenshots`: replaces the pictures in `docs/screenshots` by pictures of the pages that the tests
 * check. Needs Chromium on PATH or in CHROMIUM_PATH; starts its own PostgreSQL and Redis. The
 * pictures are reduced to palettes of 256 colors, which look the same at a third of the size.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import sharp from 'sharp';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'docs', 'screenshots');
const pictures = mkdtempSync(join(tmpdir(), 'screenshots-'));

const test = [join(root, 'scripts', 'test.mjs'), 'test/browser/main-pages'];
const { status } = spawnSync(process.execPath, [...test, '--selectProjects', 'browser'], {
  cwd: root,
  stdio: 'inherit',
  // Without a browser the tests would be skipped. `CI` turns this into a failure.
  env: { ...process.env, PICTURES: pictures, CI: '1' },
});
if (status === 0) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of readdirSync(pictures)) {
    await sharp(join(pictures, name))
      .png({ palette: true, compressionLevel: 9 })
      .toFile(join(folder, name));
  }
}
rmSync(pictures, { recursive: true });
process.exitCode = status ?? 1;
