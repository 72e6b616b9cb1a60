import { constants } from 'node:fs';
import { access, open, readdir, realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { RunnerError } from '../runs/runner-error.js';

/**
 * Maximum number of files that are searched in a project; the lists of larger projects are
 * incomplete.
 */
const MAX_FILES = 20_000;
/** Maximum length of all paths in a list, in characters: requests on a project read its lists. */
const MAX_PATHS_LENGTH = 2_000_000;
/** Maximum size of a file that is read to detect a playbook, in bytes. */
const MAX_PROBE_BYTES = 1024 * 1024;
// Without line breaks and adjacent repetitions, so that its time is linear: a project controls the text.
const PLAYBOOK_LINE =
  /^\uFEFF?[ \t]*(?:-[ \t]*)?(?:hosts|include|(?:ansible\.builtin\.)?(?:import_playbook|include)):/m;
const INVENTORY_LINE = /^[a-zA-Z0-9_.=[\]]/;
const INVENTORY_PROBE_LINES = 10;
const SKIPPED_FOLDERS = new Set(['roles', 'tasks', 'group_vars', 'host_vars']);

/**
 * Returns the sorted relative paths of files that look like playbooks: YAML with `hosts:`, an import or an
 * include, or encrypted with vault.
 */
export async function listPlaybooks(dir: string): Promise<string[]> {
  return listFiles(dir, couldBePlaybook);
}

/** Returns the sorted relative paths of files that look like inventories. */
export async function listInventoryFiles(dir: string): Promise<string[]> {
  return listFiles(dir, couldBeInventory);
}

/**
 * Returns the absolute path of a file of the project.
 *
 * @throws RunnerError if the path is empty, absolute or invalid, leads out of the project (also through a
 *   symbolic link), does not exist or is not a file
 */
export async function resolveInside(projectDir: string, path: string): Promise<string> {
  if (path === '' || path.includes('\0') || isAbsolute(path)) {
    throw new RunnerError(`"${path.replaceAll('\0', '')}" is not a path inside the project.`);
  }
  const root = await realpath(projectDir).catch(() => {
    throw new RunnerError('The project folder does not exist.');
  });
  const target = await realpath(resolve(root, path)).catch(() => {
    throw new RunnerError(`"${path}" does not exist in the project.`);
  });
  if (!target.startsWith(root + sep)) {
    throw new RunnerError(`"${path}" is not a path inside the project.`);
  }
  if (!(await stat(target)).isFile()) throw new RunnerError(`"${path}" is not a file.`);
  return target;
}

async function listFiles(
  dir: string,
  matches: (path: string) => Promise<boolean>,
): Promise<string[]> {
  const root = resolve(dir);
  const found: string[] = [];
  const folders = [root];
  let seen = 0;
  let length = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) folders.push(path);
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      seen += 1;
      if (seen > MAX_FILES) return found.sort();
      if (!(await isInside(root, path, entry.isSymbolicLink())) || !(await matches(path))) continue;
      const listed = relative(root, path);
      length += listed.length;
      if (length > MAX_PATHS_LENGTH) return found.sort();
      found.push(listed);
    }
  }
  return found.sort();
}

/**
 * Returns true for files in the project. Symbolic links to folders are not followed. Links to files are
 * accepted if their targets are in the project.
 */
async function isInside(root: string, path: string, isLink: boolean): Promise<boolean> {
  if (!isLink) return true;
  return resolveInside(root, relative(root, path)).then(
    () => true,
    () => false,
  );
}

async function couldBePlaybook(path: string): Promise<boolean> {
  if (!['.yml', '.yaml'].includes(extname(path))) return false;
  const text = await readStart(path);
  return text.startsWith('$ANSIBLE_VAULT;') || PLAYBOOK_LINE.test(text);
}

async function couldBeInventory(path: string): Promise<boolean> {
  const name = path.slice(path.lastIndexOf(sep) + 1);
  const extension = extname(path);
  if (name === 'inventory' || name === 'hosts' || extension === '.ini') return true;
  if (await isExecutable(path)) return true;
  if (extension !== '') return false;
  const lines = (await readStart(path)).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(0, INVENTORY_PROBE_LINES).every((line) => INVENTORY_LINE.test(line));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(MAX_PROBE_BYTES),
      0,
      MAX_PROBE_BYTES,
      0,
    );
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
