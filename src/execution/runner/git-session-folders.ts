import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProcess, isAlive } from './process-table.js';
import { removeDirectory } from './workspace.js';

/** Folder name `git-PID-START-...`: process id and start time identify the owner unambiguously. */
const NAME = /^git-(\d+)-(\d+)-/;

/** Creates the folder of a git session. The folder contains the credential of the session. */
export async function createSessionFolder(): Promise<string> {
  const startTime = (await findProcess(process.pid))?.startTime ?? '0';
  return mkdtemp(join(tmpdir(), `git-${process.pid}-${startTime}-`));
}

/**
 * Removes the session folders of dead processes.
 *
 * @returns number of removed folders
 */
export async function sweepSessionFolders(): Promise<number> {
  // Without a process table, living and dead processes cannot be distinguished.
  if (!(await findProcess(process.pid))) return 0;
  let removed = 0;
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid, startTime = ''] = NAME.exec(name) ?? [];
    if (pid === undefined || (await isAlive({ pid: Number(pid), startTime }))) continue;
    const folder = join(tmpdir(), name);
    if (!(await isOwnedByAccount(folder))) continue;
    await removeDirectory(folder);
    removed += 1;
  }
  return removed;
}

/**
 * Every user can create entries in the temporary folder, but only root and this account can write
 * to a folder of this account.
 */
async function isOwnedByAccount(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}
