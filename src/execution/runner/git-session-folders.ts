import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findProcess } from './process-table.js';
import { removeDirectory } from './workspace.js';

/** `git-PID-START-...`: whose session it is stands in the name, as the kernel knows a process for good. */
const NAME = /^git-(\d+)-(\d+)-/;

/** Makes the folder of a session of git, which holds its credential while it lasts. */
export async function makeSessionFolder(): Promise<string> {
  const startTime = (await findProcess(process.pid))?.startTime ?? '0';
  return mkdtemp(join(tmpdir(), `git-${process.pid}-${startTime}-`));
}

/**
 * Removes what processes that have ended without doing so left of their sessions.
 *
 * @returns how many folders
 */
export async function sweepSessionFolders(): Promise<number> {
  // Without a table of processes nobody can be told from the dead.
  if (!(await findProcess(process.pid))) return 0;
  let removed = 0;
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid, startTime] = NAME.exec(name) ?? [];
    if (pid === undefined || (await isAlive(Number(pid), startTime))) continue;
    const folder = join(tmpdir(), name);
    if (!(await isOwn(folder))) continue;
    await removeDirectory(folder);
    removed += 1;
  }
  return removed;
}

async function isAlive(pid: number, startTime: string | undefined): Promise<boolean> {
  const found = await findProcess(pid);
  return found?.startTime === startTime && found?.state !== 'Z';
}

/** Anybody may write to the folder of temporary files, and none but root into a folder of ours. */
async function isOwn(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}
