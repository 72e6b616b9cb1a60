import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { codeOf } from '../console/problem.mjs';
import { isRunning, recordOf } from './identity.mjs';

const WRITE_LIMIT_MS = 1000;
const WAIT_POLL_MS = 200;

/**
 * Content of a lock file: its owner, its original path, and a child process that also holds the lock (`heir`).
 *
 * @typedef {import('./identity.mjs').ProcessRecord & {
 *   path: string, heir?: import('./identity.mjs').ProcessRecord, url?: string }} Holder
 * @typedef {{ holder?: undefined, update(changes: Partial<Holder>): void, release(): void }} HeldLock
 * @typedef {HeldLock | { holder: Holder }} Lock
 */

/**
 * Takes a lock file that names this process. Resolves to `{ update, release }`, or to
 * `{ holder }` with the content of the living owner. A lock whose owner is dead, or that was
 * copied to this path with its folder, is replaced.
 *
 * @param {string} path
 * @param {Record<string, unknown>} [content]
 * @returns {Promise<Lock>}
 */
export async function tryLock(path, content = {}) {
  mkdirSync(dirname(path), { recursive: true });
  const record = { ...recordOf(process.pid), path, ...content };
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(record), { flag: 'wx', mode: 0o600 });
      return heldLock(path, record);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const holder = await readHolder(path);
    if (holder && isHeld(holder, path)) return { holder };
    // A lock that was released meanwhile is not stale: another process may have taken it since.
    if (holder !== undefined) removeStale(path, holder);
  }
}

/**
 * Waits for the lock and runs `work(shareWith)` while holding it. `shareWith(pid)` makes a child process a
 * second holder, so other processes also wait for a command that outlives this process.
 *
 * @template Result
 * @param {string} path
 * @param {(shareWith: (pid: number) => void) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withLock(path, work) {
  let lock = await tryLock(path);
  while (lock.holder) {
    await pause(WAIT_POLL_MS);
    lock = await tryLock(path);
  }
  const held = lock;
  try {
    return await work((pid) => held.update({ heir: recordOf(pid) }));
  } finally {
    held.release();
  }
}

/**
 * Returns the content of a lock whose owner is alive, else null.
 *
 * @param {string} path
 */
export async function lockHolder(path) {
  const holder = await readHolder(path);
  return holder && isHeld(holder, path) ? holder : null;
}

/**
 * @param {Holder | null} holder
 * @param {string} path
 */
function isHeld(holder, path) {
  return holder?.path === path && (isRunning(holder) || isRunning(holder.heir));
}

/**
 * @param {string} path
 * @param {Holder} content
 * @returns {HeldLock}
 */
function heldLock(path, content) {
  return {
    update(changes) {
      Object.assign(content, changes);
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
      renameSync(draft, path);
    },
    release() {
      rmSync(path, { force: true });
    },
  };
}

// The file exists a moment before its content, so an empty file is read again.
/**
 * @param {string} path
 * @returns {Promise<Holder | null | undefined>} null if the file is unreadable, undefined if it is missing
 */
async function readHolder(path) {
  const deadline = Date.now() + WRITE_LIMIT_MS;
  for (;;) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      if (Date.now() > deadline) return null;
    }
    await pause(WAIT_POLL_MS / 4);
  }
}

// Renamed before it is removed: only one of two processes that find the same stale lock gets it.
/**
 * @param {string} path
 * @param {Holder | null} stale
 */
function removeStale(path, stale) {
  const moved = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, moved);
  } catch {
    return;
  }
  const content = readFileSync(moved, 'utf8');
  if (stale && content !== JSON.stringify(stale)) {
    try {
      writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    } catch {
      // Another process holds a new lock, which the loop of the caller finds.
    }
  }
  rmSync(moved, { force: true });
}
