import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../processes/run.mjs';
import { canRun, namedAccount } from './account.mjs';
import { SHARED_BASE } from './postgres-folders.mjs';
import { findProgram } from './tools.mjs';

/** Lowest port that accounts other than root can open. */
const FIRST_OPEN_PORT = 1024;

/** Subfolders of the data folder that the service writes. */
export const SERVICE_FOLDERS = [
  'projects',
  'content',
  'images',
  'workspaces',
  'compile-cache',
  'home',
  'redis',
];

/**
 * Script that mounts files and folders below closed folders in a private mount namespace, so that the account
 * reaches them. Arguments: the path of the view, the number of paths to mount, the paths, the number of closed
 * folders to cover, the folders, and the command.
 */
const VIEW = `
view=$1; mounts=$2; shift 2
mount -t tmpfs -o mode=0755,size=1m view "$view"
while [ "$mounts" -gt 0 ]; do
  (
    umask 022
    if [ -d "$1" ]; then mkdir -p "$view$1"; else mkdir -p "$view\${1%/*}"; : > "$view$1"; fi
  )
  mount --rbind "$1" "$view$1"
  mounts=$((mounts - 1)); shift
done
covered=$1; shift
while [ "$covered" -gt 0 ]; do
  mount --rbind "$view$1" "$1"
  covered=$((covered - 1)); shift
done
cd /
exec "$@"`;

/**
 * Returns the account of API, worker and commands if this process is root: null if it is not, or if no
 * account is available.
 *
 * @param {string} name
 * @returns {Promise<import('./account.mjs').Account | null>}
 */
export async function serviceAccount(name) {
  if (process.getuid?.() !== 0 || name === 'root' || !findProgram('setpriv')) return null;
  return namedAccount(name);
}

/**
 * Makes the account the owner of the folders that the service writes below the data folder, including folders
 * that an earlier start created as another account.
 *
 * @param {import('./account.mjs').Account} account
 * @param {string} dataDir
 */
export async function chownFolders({ uid, gid }, dataDir) {
  for (const name of SERVICE_FOLDERS) {
    const folder = join(dataDir, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (statSync(folder).uid !== uid) await run('chown', ['-hRP', `${uid}:${gid}`, folder]);
  }
}

/**
 * Returns the command that runs as the account: without root's rights and groups, and, if required folders
 * are below folders closed to the account, with a view of the file system that mounts them.
 *
 * @param {import('./account.mjs').Account} account
 * @param {{ file: string, args: readonly string[] }} command
 * @param {{ needs: readonly string[], port?: number | undefined }} wants files and folders that the command
 *   uses, and the port that it opens
 * @returns {{ file: string, args: string[] }}
 */
export function asServiceAccount(account, { file, args }, { needs, port = FIRST_OPEN_PORT }) {
  const present = [file, ...needs].filter((path) => existsSync(path));
  const closed = [...new Set(present.flatMap((path) => closedAbove(account, path) ?? []))];
  const hidden = present.filter((path) => closed.some((folder) => path.startsWith(`${folder}/`)));
  const unprivileged = ['setpriv', ...privilegeArguments(account, port), '--', file, ...args];
  if (closed.length === 0) return { file: 'setpriv', args: unprivileged.slice(1) };
  const view = join(SHARED_BASE, 'view');
  mkdirSync(view, { recursive: true });
  const parameters = [view, hidden.length, ...hidden, closed.length, ...closed].map(String);
  const shell = ['sh', '-euc', VIEW, 'view', ...parameters, ...unprivileged];
  return { file: 'unshare', args: ['--mount', '--propagation', 'private', '--', ...shell] };
}

/**
 * Returns true if a command of {@link asServiceAccount} succeeds on this machine.
 *
 * @param {{ file: string, args: readonly string[] }} command
 */
export function canRunCommand({ file, args }) {
  return spawnSync(file, args, { cwd: '/', stdio: 'ignore' }).status === 0;
}

/**
 * Returns the topmost folder above a path that the account cannot pass; null if it reaches the path.
 *
 * @param {import('./account.mjs').Account} account
 * @param {string} path
 * @returns {string | null}
 */
function closedAbove(account, path) {
  const above = dirname(path);
  if (above === path) return null;
  return closedAbove(account, above) ?? (canRun(account, 'test', ['-x', above]) ? null : above);
}

/**
 * @param {import('./account.mjs').Account} account
 * @param {number} port
 */
function privilegeArguments({ uid, gid }, port) {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  if (port >= FIRST_OPEN_PORT || port === 0) {
    return [...identity, '--inh-caps=-all', '--bounding-set=-all'];
  }
  const only = '-all,+net_bind_service';
  return [...identity, `--inh-caps=${only}`, `--ambient-caps=${only}`, `--bounding-set=${only}`];
}
