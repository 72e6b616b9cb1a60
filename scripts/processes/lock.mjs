import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { isRunning, recordOf } from './identity.mjs';

const WRITING_MS = 1000;
const WAIT_POLL_MS = 200;

/**
 * Takes a lock file that names this process. Resolves to `{ update, release }`, or to
 * `{ holder }` with the content of the living owner. A lock whose owner is dead, or that was
 * copied here together with its folder, is taken over.
 */
export async function tryLock(path, content = {}) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = { ...recordOf(process.pid), path, ...content };
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
      return heldLock(path, mine);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = await readHolder(path);
    if (isHeld(holder, path)) return { holder };
    removeStale(path, holder);
  }
}

/**
 * Runs `work(handTo)` while holding the lock, after waiting for whoever holds it now. `handTo(pid)`
 * lets a child of ours hold it too: a command that outlives us keeps the others waiting.
 */
export async function withLock(path, work) {
  let lock = await tryLock(path);
  while (lock.holder) {
    await pause(WAIT_POLL_MS);
    lock = await tryLock(path);
  }
  try {
    return await work((pid) => lock.update({ heir: recordOf(pid) }));
  } finally {
    lock.release();
  }
}

/** The content of a lock whose owner is alive, else null. */
export async function lockHolder(path) {
  const holder = await readHolder(path);
  return isHeld(holder, path) ? holder : null;
}

function isHeld(holder, path) {
  return holder?.path === path && (isRunning(holder) || isRunning(holder.heir));
}

function heldLock(path, mine) {
  return {
    update(more) {
      Object.assign(mine, more);
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
      renameSync(draft, path);
    },
    release() {
      rmSync(path, { force: true });
    },
  };
}

// The file exists a moment before its text does, so an empty one is given time.
async function readHolder(path) {
  const deadline = Date.now() + WRITING_MS;
  for (;;) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (error.code === 'ENOENT' || Date.now() > deadline) return null;
    }
    await pause(WAIT_POLL_MS / 4);
  }
}

// Renamed before it is removed: of two that find the same stale lock only one gets it.
function removeStale(path, seen) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const taken = readFileSync(aside, 'utf8');
  if (seen && taken !== JSON.stringify(seen)) {
    try {
      writeFileSync(path, taken, { flag: 'wx', mode: 0o600 });
    } catch {
      // Somebody else holds a fresh lock meanwhile; the loop of the caller meets it.
    }
  }
  rmSync(aside, { force: true });
}
