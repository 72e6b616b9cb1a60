import { type Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { GitError } from './git-command.js';

/**
 * Entries of a repository that remain between sessions: objects, refs, index and submodules. Everything that
 * controls git (settings, hooks, attributes, alternate object folders) is written anew, because an
 * earlier run can have changed it.
 */
const KEPT: ReadonlyMap<string, (entry: Dirent) => boolean> = new Map([
  ...['HEAD', 'index', 'packed-refs', 'shallow'].map(
    (name) => [name, (entry: Dirent) => entry.isFile()] as const,
  ),
  ...['modules', 'objects', 'refs'].map(
    (name) => [name, (entry: Dirent) => entry.isDirectory()] as const,
  ),
]);

const CONFIG = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = false
[remote "origin"]
	fetch = +refs/heads/*:refs/remotes/origin/*
`;
// git refuses to fetch into the branch of HEAD, which a refspec can name.
const HEAD = 'ref: refs/controller/files\n';

/**
 * Turns a folder into a repository whose behavior depends on its objects and refs only. The caller must
 * ensure that no other process uses the folder meanwhile: links are not followed, but the path is
 * not locked.
 *
 * @param url base of relative submodule addresses, without secrets
 */
export async function renewRepository(dir: string, url: string | null): Promise<void> {
  const gitDir = join(dir, '.git');
  const exists = await isFolder(gitDir);
  if (!exists) await rm(gitDir, { recursive: true, force: true });
  await mkdir(gitDir, { recursive: true });
  await renew(gitDir, url);
}

/**
 * Returns the objects folder of a synced project.
 *
 * @throws GitError if the objects folder of the project is missing or a symbolic link
 */
export async function objectsOf(repository: string): Promise<string> {
  const gitDir = join(resolve(repository), '.git');
  const objects = join(gitDir, 'objects');
  // A symbolic link would lead into another project's folder.
  if ((await isFolder(gitDir)) && (await isFolder(objects))) return objects;
  throw new GitError('The project has no repository yet.', '');
}

/** Configures a renewed repository to read the objects of another repository. */
export async function shareObjects(dir: string, objects: string): Promise<void> {
  const info = join(dir, '.git', 'objects', 'info');
  await mkdir(info);
  await writeFile(join(info, 'alternates'), `${objects}\n`);
}

async function renew(gitDir: string, url: string | null): Promise<void> {
  for (const entry of await readdir(gitDir, { withFileTypes: true })) {
    const isKept = KEPT.get(entry.name)?.(entry) ?? false;
    if (!isKept) await remove(gitDir, entry.name);
  }
  for (const name of ['objects', 'refs']) await mkdir(join(gitDir, name), { recursive: true });
  await remove(gitDir, 'objects', 'info');
  await removeLeftovers(join(gitDir, 'refs'), /\.lock$/);
  await removeLeftovers(join(gitDir, 'objects', 'pack'), /^tmp_/);
  const origin = url === null ? '' : `\turl = "${url.replace(/["\\]/g, '\\$&')}"\n`;
  await writeFile(join(gitDir, 'config'), CONFIG + origin);
  await writeFile(join(gitDir, 'HEAD'), HEAD, { flag: 'wx' }).catch(ignoreExisting);
  await renewModules(join(gitDir, 'modules'));
}

/**
 * Removes files that a killed git left: locks would block every later fetch, and incomplete packs take up
 * space.
 */
async function removeLeftovers(folder: string, pattern: RegExp): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await removeLeftovers(join(folder, entry.name), pattern);
    else if (pattern.test(entry.name)) await remove(folder, entry.name);
  }
}

/** Renews the repositories of submodules, whose names can contain slashes. */
async function renewModules(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) await remove(folder, entry.name);
    else if (await isFolder(join(path, 'objects'))) await renew(path, null);
    else await renewModules(path);
  }
}

const remove = (...path: string[]): Promise<void> =>
  rm(join(...path), { recursive: true, force: true });

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
