import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rm, stat } from 'node:fs/promises';
import { memberOf } from '../../common/records.js';

/**
 * Functions for files that a run can have written. Each step of a path is opened relative to the
 * previous folder, must not be a link, must be on the device of the root, and must belong to the owner of
 * the root. Thus a run cannot make these functions read or remove a file outside of its folder.
 */

/**
 * Root folder of files that a run can have written, bound into the sandbox. A run can replace every
 * folder below the root, for example by a link to `/proc`, but not the root itself.
 */
export interface BoundFolder {
  readonly dir: string;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Non-blocking, because opening a pipe would wait for a writer. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Folder in which Linux exposes opened folders independent of their name; other systems use names.
 */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);
/** Codes of errors that do not concern the file: no file descriptor is free. */
export const NO_DESCRIPTORS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

type Path = readonly [string, ...string[]];

/** Work with the last step of a path, and a check that a file belongs to the account of the root. */
type Work<T> = (name: string, isSameOwner: (stats: Stats) => boolean) => Promise<T>;

/**
 * Returns the text of a file; null if it is missing, not a regular file, reached by a link, too large, or
 * owned by another account than the root.
 *
 * @param rethrown codes of the errors that are thrown instead
 */
export async function readBelow(
  root: BoundFolder,
  path: Path,
  maxBytes: number,
  rethrown?: ReadonlySet<unknown>,
): Promise<string | null> {
  const work: Work<string | null> = async (name, isSameOwner) => {
    const file = await open(name, FILE);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || !isSameOwner(stats) || stats.size > maxBytes) return null;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  };
  return inFolderOf(root, path, work, rethrown);
}

/**
 * Returns the attributes of a file, which can be a link; null if it is missing or reached by a link.
 *
 * @throws if no descriptor is free, because the file may exist
 */
export async function statBelow(root: BoundFolder, path: Path): Promise<Stats | null> {
  return inFolderOf(root, path, (name) => lstat(name), NO_DESCRIPTORS);
}

/** Returns at most `max` names in a folder; none if the folder does not exist. */
export async function namesBelow(
  root: BoundFolder,
  path: readonly string[],
  max: number,
): Promise<string[]> {
  const names = await inFolderOf(root, [...path, '.'], async (folder) => {
    const found: string[] = [];
    for await (const { name } of await opendir(folder)) {
      found.push(name);
      if (found.length === max) break;
    }
    return found;
  });
  return names ?? [];
}

/** Removes a file; does nothing if it is missing. */
export async function removeBelow(root: BoundFolder, path: Path): Promise<void> {
  await inFolderOf(root, path, (name) => rm(name, { force: true }));
}

/**
 * Calls `work` with the last step of a path. Returns null if a step cannot be opened or has another owner, or
 * `work` fails.
 *
 * @param rethrown codes of the errors that are thrown instead
 */
async function inFolderOf<T>(
  { dir }: BoundFolder,
  path: readonly string[],
  work: Work<T>,
  rethrown: ReadonlySet<unknown> = new Set(),
): Promise<T | null> {
  const opened: FileHandle[] = [];
  try {
    const { dev, uid } = await stat(dir);
    const isSameOwner = (stats: Stats): boolean => stats.dev === dev && stats.uid === uid;
    let folder = dir;
    for (const name of path.slice(0, -1)) {
      const next = `${folder}/${name}`;
      const handle = await open(next, FOLDER);
      opened.push(handle);
      if (!isSameOwner(await handle.stat())) return null;
      folder = HAS_DESCRIPTORS ? `${DESCRIPTORS}/${handle.fd}` : next;
    }
    return await work(`${folder}/${path.at(-1) ?? '.'}`, isSameOwner);
  } catch (error) {
    if (rethrown.has(memberOf(error, 'code'))) throw error;
    return null;
  } finally {
    for (const handle of opened) await handle.close();
  }
}
