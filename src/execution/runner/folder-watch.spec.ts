import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './folder-watch.js';

it('a folder is found to be full although its check takes longer than the interval', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watch-'));
  const { PATH = '' } = process.env;
  writeFileSync(join(folder, 'du'), '#!/bin/sh\nsleep 0.5\necho "1000 $2"\n', { mode: 0o700 });
  process.env.PATH = `${folder}:${PATH}`;
  try {
    await new Promise<void>((resolve) => watchFolder(folder, 1000, resolve, 100));
  } finally {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  }
}, 10_000);
