import { createHash, randomUUID } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join, sep } from 'node:path';
import { keysOf } from '../../common/records.js';

/** Folder for the output of `ansible-runner`, below the folder of the run. */
export const ARTIFACTS = 'artifacts';
/** Folder below `artifacts`: the option `--ident` of `ansible-runner`. */
export const RUN_IDENT = 'run';

/** Folders of a run, in the layout that `ansible-runner` expects. */
export interface RunnerFolders {
  /** The folder itself: absolute, with links resolved. */
  readonly dir: string;
  readonly projectDir: string;
  readonly inventoryDir: string;
  readonly envDir: string;
  readonly artifactsDir: string;
}

/** The private folder of an attempt; only its owner can access it. */
export interface Workspace extends RunnerFolders {
  readonly jobId: number;
  readonly attempt: number;
  /** Folder that contains the private folder and the worker's own files of the run. */
  readonly root: string;
  /** The folders as the run sees them. */
  readonly inside: RunnerFolders;
  /** Value of the environment mark that every process of the run carries. */
  readonly mark: string;
}

/** Environment variable that marks the processes of a run. */
export const MARK_VARIABLE = 'AUTOMATION_CONTROLLER_RUN';
const DIRECTORY_NAME = /^run-(\d+)-(\d+)-/;
const REMOVE_ATTEMPTS = 3;
/** Maximum length of paths. Linux permits 4096 bytes, and names have up to 255. */
const MAX_PATH_BYTES = 3000;

/**
 * Creates the private folder (mode 0700) of one attempt of a job below `baseDir`, which is created
 * if missing.
 *
 * @param innerDir path at which the run sees the folder; its real path if absent
 */
export async function createWorkspace(
  baseDir: string,
  jobId: number,
  attempt: number,
  innerDir?: string,
): Promise<Workspace> {
  await mkdir(baseDir, { recursive: true, mode: 0o700 });
  const base = await realpath(baseDir);
  const root = await mkdtemp(join(base, `run-${jobId}-${attempt}-`));
  const folders = runnerFolders(join(root, 'runner'));
  for (const name of keysOf(folders)) await mkdir(folders[name], { mode: 0o700 });
  return {
    ...folders,
    jobId,
    attempt,
    root,
    inside: innerDir === undefined ? folders : runnerFolders(innerDir),
    mark: `${jobId}:${attempt}:${baseKey(base)}`,
  };
}

function runnerFolders(dir: string): RunnerFolders {
  return {
    dir,
    projectDir: join(dir, 'project'),
    inventoryDir: join(dir, 'inventory'),
    envDir: join(dir, 'env'),
    artifactsDir: join(dir, ARTIFACTS),
  };
}

/** Returns a path of the workspace as the run sees it. */
export function pathInside({ dir, inside }: Workspace, path: string): string {
  return path === dir || path.startsWith(dir + sep) ? inside.dir + path.slice(dir.length) : path;
}

/**
 * Returns a key that distinguishes installations on one host: job 7 of a test server is not job 7
 * of the production server. `base` must be a resolved path.
 */
export function baseKey(base: string): string {
  return createHash('sha256').update(base).digest('hex').slice(0, 12);
}

/** Returns the job id and attempt from a workspace's folder name; null for any other name. */
export function parseWorkspaceName(name: string): { jobId: number; attempt: number } | null {
  const match = DIRECTORY_NAME.exec(name);
  return match ? { jobId: Number(match[1]), attempt: Number(match[2]) } : null;
}

/**
 * Writes a file that only its owner can read, atomically: a reader sees the old or the new content.
 */
export async function writePrivateFile(path: string, content: string, mode = 0o600): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, content, { mode });
  await chmod(draft, mode);
  await rename(draft, path);
}

/**
 * Writes an inventory as a script that prints a file of the workspace: only a script can provide
 * `_meta.hostvars`, which Ansible's reader of JSON files ignores.
 *
 * @returns path of the script as the run sees it
 */
export async function writeInventoryScript(
  workspace: Workspace,
  name: string,
  file: string,
): Promise<string> {
  const script = join(workspace.inventoryDir, name);
  const lines = ['#!/bin/sh', `exec cat "\${0%/*}/../${file}"`, ''];
  await writePrivateFile(script, lines.join('\n'), 0o700);
  return pathInside(workspace, script);
}

/**
 * Removes a folder with all its content, including read-only and deep folders of a playbook. Does nothing if
 * the folder is missing.
 */
export async function removeDirectory(dir: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rm(dir, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === REMOVE_ATTEMPTS) throw error;
      await makeWritable(dir);
    }
  }
}

/** Handler for the error of a file operation that ignores a missing file. */
export function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Makes a folder removable. Names stay bytes, because a run can choose names that are not UTF-8. A run can also
 * nest folders so deep that their paths are too long for the system: these are moved to the top.
 */
async function makeWritable(dir: string): Promise<void> {
  const stats = await lstat(dir).catch(() => null);
  if (!stats?.isDirectory()) return;
  const folders = [Buffer.from(dir)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700).catch(() => undefined);
    const path =
      folder.length > MAX_PATH_BYTES ? Buffer.from(join(dir, `moved-${randomUUID()}`)) : folder;
    if (path !== folder) await rename(folder, path).catch(() => undefined);
    const options = { withFileTypes: true, encoding: 'buffer' } as const;
    for (const entry of await readdir(path, options).catch(() => [])) {
      if (entry.isDirectory()) folders.push(Buffer.concat([path, Buffer.from(sep), entry.name]));
    }
  }
}
