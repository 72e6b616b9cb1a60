import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rm, stat } from 'node:fs/promises';

/**
 * Files that a run may have written. Each step of a path is opened from the folder before it and is
 * never a link, and stands on the device of the root and belongs to its owner: nothing outside is read
 * or removed, whatever the run put in its place.
 */

/**
 * The root of such files: a folder that is bound into the sandbox as it is. A run can replace every
 * folder below it, for example by a link to `/proc`, and not the folder itself.
 */
export interface BoundFolder {
  readonly dir: string;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A pipe would wait for whoever writes it. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Where an opened folder is reached whatever becomes of its name; other systems than Linux go by name. */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);

type Path = readonly [string, ...string[]];

/** The text of a file; null when it is missing, no plain file, reached by a link, or too large. */
export async function readBelow(
  root: BoundFolder,
  path: Path,
  maxBytes: number,
): Promise<string | null> {
  return inFolderOf(root, path, async (name, isOwn) => {
    const file = await open(name, FILE);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || !isOwn(stats) || stats.size > maxBytes) return null;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  });
}

/** What is known of a file, which may be a link; null when there is none. */
export async function statBelow(root: BoundFolder, path: Path): Promise<Stats | null> {
  return inFolderOf(root, path, (name) => lstat(name));
}

/** The names in a folder, as many as are wanted at most; none when there is no such folder. */
export async function namesBelow(
  root: BoundFolder,
  path: readonly string[],
  most: number,
): Promise<string[]> {
  const names = await inFolderOf(root, [...path, '.'], async (folder) => {
    const found: string[] = [];
    for await (const { name } of await opendir(folder)) {
      found.push(name);
      if (found.length === most) break;
    }
    return found;
  });
  return names ?? [];
}

/** Removes a file; missing is fine. */
export async function removeBelow(root: BoundFolder, path: Path): Promise<void> {
  await inFolderOf(root, path, (name) => rm(name, { force: true }));
}

/** Calls `work` with the last name of a path; returns null when a step cannot be opened. */
async function inFolderOf<T>(
  { dir }: BoundFolder,
  path: readonly string[],
  work: (name: string, isOwn: (stats: Stats) => boolean) => Promise<T>,
): Promise<T | null> {
  const opened: FileHandle[] = [];
  try {
    const { dev, uid } = await stat(dir);
    const isOwn = (stats: Stats): boolean => stats.dev === dev && stats.uid === uid;
    let folder = dir;
    for (const name of path.slice(0, -1)) {
      const next = `${folder}/${name}`;
      const handle = await open(next, FOLDER);
      opened.push(handle);
      if (!isOwn(await handle.stat())) return null;
      folder = HAS_DESCRIPTORS ? `${DESCRIPTORS}/${handle.fd}` : next;
    }
    return await work(`${folder}/${path.at(-1) ?? '.'}`, isOwn);
  } catch {
    return null;
  } finally {
    for (const handle of opened) await handle.close();
  }
}
