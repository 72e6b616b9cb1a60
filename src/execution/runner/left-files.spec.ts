import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { namesBelow, readBelow, removeBelow, statBelow } from './left-files.js';

const MOST = 10;

let top: string;
/** What was run wrote here, and nowhere else. */
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'left-'));
  root = join(top, 'run');
  mkdirSync(join(root, 'folder'), { recursive: true });
  mkdirSync(join(top, 'secret'));
  writeFileSync(join(top, 'secret', 'file'), 'secret');
  writeFileSync(join(root, 'folder', 'file'), 'left');
  symlinkSync('../secret', join(root, 'elsewhere'));
  symlinkSync('../../secret/file', join(root, 'folder', 'link'));
});
afterEach(() => rmSync(top, { recursive: true }));

it('is read up to a size', async () => {
  expect(await readBelow(root, ['folder', 'file'], MOST)).toBe('left');
  writeFileSync(join(root, 'folder', 'file'), 'x'.repeat(MOST));
  expect(await readBelow(root, ['folder', 'file'], MOST)).toHaveLength(MOST);
  writeFileSync(join(root, 'folder', 'file'), 'x'.repeat(MOST + 1));
  expect(await readBelow(root, ['folder', 'file'], MOST)).toBeNull();
});

it('is reached by no link, at the end or on the way', async () => {
  expect(await readBelow(root, ['folder', 'link'], MOST)).toBeNull();
  expect(await readBelow(root, ['elsewhere', 'file'], MOST)).toBeNull();
  expect(await statBelow(root, ['elsewhere', 'file'])).toBeNull();
  expect((await statBelow(root, ['folder', 'link']))?.isSymbolicLink()).toBe(true);
  expect(await namesBelow(root, ['elsewhere'], MOST)).toEqual([]);
  await removeBelow(root, ['elsewhere', 'file']);
  await removeBelow(root, ['folder', 'link']);
  expect(readFileSync(join(top, 'secret', 'file'), 'utf8')).toBe('secret');
  expect(await namesBelow(root, ['folder'], MOST)).toEqual(['file']);
});

it('is waited for at no pipe', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')]);
  expect(await readBelow(root, ['pipe'], MOST)).toBeNull();
});

it('is listed up to a number', async () => {
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, 'folder', name), '');
  expect(await namesBelow(root, ['folder'], 2)).toHaveLength(2);
});
