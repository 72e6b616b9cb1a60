/**
 * Replaces a module of Node.
 *
 * @jest-environment node
 */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { BoundFolder } from './untrusted-files.js';
import type { Workspace } from './workspace.js';

const noDescriptor = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
const lstat = jest.fn(promises.lstat);
const UNOPENED = 'unopened';
const open: typeof promises.open = async (name, ...rest) => {
  if (String(name).endsWith(`/${UNOPENED}`)) throw noDescriptor;
  return promises.open(name, ...rest);
};
jest.unstable_mockModule('node:fs/promises', () => ({ ...promises, lstat, open }));
const { changedFacts } = await import('./fact-files.js');
const { namesBelow, readBelow, removeBelow, statBelow } = await import('./untrusted-files.js');
const { readMissedEvents, readRunnerStatus } = await import('./run-artifacts.js');
const { createWorkspace, RUN_IDENT } = await import('./workspace.js');

const MAX = 10;

let top: string;
/** The only folder that the run could write to. */
let root: BoundFolder;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'left-'));
  const dir = join(top, 'run');
  root = { dir };
  mkdirSync(join(dir, 'folder'), { recursive: true });
  mkdirSync(join(top, 'secret'));
  writeFileSync(join(top, 'secret', 'file'), 'secret');
  writeFileSync(join(root.dir, 'folder', 'file'), 'left');
  symlinkSync('../secret', join(root.dir, 'elsewhere'));
  symlinkSync('../../secret/file', join(root.dir, 'folder', 'link'));
});
afterEach(() => rmSync(top, { recursive: true }));

it('a file of a run is read up to a size limit', async () => {
  expect(await readBelow(root, ['folder', 'file'], MAX)).toBe('left');
  writeFileSync(join(root.dir, 'folder', 'file'), 'x'.repeat(MAX));
  expect(await readBelow(root, ['folder', 'file'], MAX)).toHaveLength(MAX);
  writeFileSync(join(root.dir, 'folder', 'file'), 'x'.repeat(MAX + 1));
  expect(await readBelow(root, ['folder', 'file'], MAX)).toBeNull();
});

it('a file of a run is never reached through a link', async () => {
  expect(await readBelow(root, ['folder', 'link'], MAX)).toBeNull();
  expect(await readBelow(root, ['elsewhere', 'file'], MAX)).toBeNull();
  expect(await statBelow(root, ['elsewhere', 'file'])).toBeNull();
  expect((await statBelow(root, ['folder', 'link']))?.isSymbolicLink()).toBe(true);
  expect(await namesBelow(root, ['elsewhere'], MAX)).toEqual([]);
  await removeBelow(root, ['elsewhere', 'file']);
  await removeBelow(root, ['folder', 'link']);
  expect(readFileSync(join(top, 'secret', 'file'), 'utf8')).toBe('secret');
  expect(await namesBelow(root, ['folder'], MAX)).toEqual(['file']);
});

it('a file of a run is not read from a pipe, and does not block', async () => {
  execFileSync('mkfifo', [join(root.dir, 'pipe')]);
  expect(await readBelow(root, ['pipe'], MAX)).toBeNull();
});

it('a file of a run is listed up to a number of names', async () => {
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root.dir, 'folder', name), '');
  expect(await namesBelow(root, ['folder'], 2)).toHaveLength(2);
});

const asRoot = process.getuid?.() === 0 ? it : it.skip;

asRoot('a file of a run is ignored if it or its folder belongs to another account', async () => {
  chownSync(join(root.dir, 'folder', 'file'), 65_534, 65_534);
  expect(await readBelow(root, ['folder', 'file'], MAX)).toBeNull();
  chownSync(join(root.dir, 'folder'), 65_534, 65_534);
  expect(await namesBelow(root, ['folder'], MAX)).toEqual([]);
});

asRoot('a file of a run is ignored on another file system', async () => {
  const place = join(root.dir, 'folder');
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', place]);
  try {
    writeFileSync(join(place, 'file'), 'mounted');
    expect(await readBelow(root, ['folder', 'file'], MAX)).toBeNull();
  } finally {
    execFileSync('umount', [place]);
  }
});

it('facts do not count as removed while no descriptor is free', async () => {
  const workspace = await createWorkspace(top, 1, 1);
  mkdirSync(join(workspace.artifactsDir, RUN_IDENT, 'fact_cache'), { recursive: true });
  lstat.mockImplementationOnce(promises.lstat).mockRejectedValueOnce(noDescriptor);
  const facts = changedFacts(workspace, ['web-1'], new Set(['web-1']), 1000);
  await expect(facts.next()).rejects.toThrow('too many open files');
});

it('facts are not refused while no descriptor is free', async () => {
  const workspace = await createWorkspace(top, 1, 1);
  const folder = join(workspace.artifactsDir, RUN_IDENT, 'fact_cache');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, UNOPENED), '{}');
  const facts = changedFacts(workspace, [UNOPENED], new Set(), 1000);
  await expect(facts.next()).rejects.toThrow('too many open files');
});

async function missedCounters(...args: Parameters<typeof readMissedEvents>): Promise<number[]> {
  const counters = [];
  for await (const { counter } of readMissedEvents(...args)) counters.push(counter);
  return counters;
}

it('missed events are limited in their number of values and in their total size', async () => {
  const workspace = await createWorkspace(top, 1, 1);
  const folder = join(workspace.artifactsDir, RUN_IDENT, 'job_events');
  mkdirSync(folder, { recursive: true });
  const leave = (counter: number, data: string): void =>
    writeFileSync(
      join(folder, `${counter}-u.json`),
      `{"uuid": "u", "counter": ${counter}, "event": "verbose", "event_data": {"x": ${data}}}`,
    );
  const text = `"${'x'.repeat(1_500_000)}"`;
  leave(1, '1');
  leave(2, `[${'{},'.repeat(300_000)}1]`);
  leave(3, text);
  leave(4, text);
  leave(5, text);
  leave(6, '1');
  leave(2_147_483_648, '1');
  leave(7, `[${'{},'.repeat(2_600_000)}1]`);
  const reader = { missing: new Set<number>(), lastCounter: 0 };
  expect(await missedCounters(workspace, reader)).toEqual([1, 3, 4, 6]);
});

describe('a run that replaces its artifacts folder by a link', () => {
  let baseDir: string;
  let own: Workspace;

  beforeEach(async () => {
    baseDir = mkdtempSync(join(tmpdir(), 'runs-'));
    const other = await createWorkspace(baseDir, 1, 1);
    const left = join(other.artifactsDir, RUN_IDENT);
    for (const name of ['job_events', 'fact_cache'])
      mkdirSync(join(left, name), { recursive: true });
    writeFileSync(join(left, 'status'), 'successful');
    writeFileSync(join(left, 'job_events', '1-a.json'), '{"counter": 1, "event": "verbose"}');
    writeFileSync(join(left, 'fact_cache', 'web-1'), '{"token": "of another run"}');
    own = await createWorkspace(baseDir, 2, 1);
    rmSync(own.artifactsDir, { recursive: true });
    symlinkSync(other.artifactsDir, own.artifactsDir);
  });
  afterEach(() => rmSync(baseDir, { recursive: true }));

  it('has no status, events or facts', async () => {
    expect(await readRunnerStatus(own, 0, null)).toBe('error');
    const reader = { missing: new Set([1]), lastCounter: 0 };
    expect(await missedCounters(own, reader)).toEqual([]);
    const facts = [];
    for await (const fact of changedFacts(own, ['web-1'], new Set(), 1000)) facts.push(fact);
    expect(facts).toEqual([]);
  });
});
