import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../processes/run.mjs';
import { canRun, namedAccount } from './account.mjs';
import { SHARED_BASE } from './postgres-place.mjs';
import { findProgram } from './tools.mjs';

/** Lowest port that accounts other than root can open. */
const FIRST_OPEN_PORT = 1024;

/** Subfolders of the data folder that the service writes. */
export const WRITTEN = [
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
place=$1; shown=$2; shift 2
mount -t tmpfs -o mode=0755,size=1m view "$place"
while [ "$shown" -gt 0 ]; do
  (
    umask 022
    if [ -d "$1" ]; then mkdir -p "$place$1"; else mkdir -p "$place\${1%/*}"; : > "$place$1"; fi
  )
  mount --rbind "$1" "$place$1"
  shown=$((shown - 1)); shift
done
covered=$1; shift
while [ "$covered" -gt 0 ]; do
  mount --rbind "$place$1" "$1"
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
export async function handToService({ uid, gid }, dataDir) {
  for (const name of WRITTEN) {
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
  const dropped = ['setpriv', ...dropArguments(account, port), '--', file, ...args];
  if (closed.length === 0) return { file: 'setpriv', args: dropped.slice(1) };
  const place = join(SHARED_BASE, 'view');
  mkdirSync(place, { recursive: true });
  const words = [place, hidden.length, ...hidden, closed.length, ...closed].map(String);
  const shell = ['sh', '-euc', VIEW, 'view', ...words, ...dropped];
  return { file: 'unshare', args: ['--mount', '--propagation', 'private', '--', ...shell] };
}

/**
 * Returns true if a command of {@link asServiceAccount} succeeds on this machine.
 *
 * @param {{ file: string, args: readonly string[] }} command
 */
export function worksHere({ file, args }) {
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
function dropArguments({ uid, gid }, port) {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  if (port >= FIRST_OPEN_PORT || port === 0) {
    return [...identity, '--inh-caps=-all', '--bounding-set=-all'];
  }
  const only = '-all,+net_bind_service';
  return [...identity, `--inh-caps=${only}`, `--ambient-caps=${only}`, `--bounding-set=${only}`];
}
