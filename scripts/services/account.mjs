import { spawnSync } from 'node:child_process';

import { Problem } from '../console/problem.mjs';
import { run } from '../processes/run.mjs';

const DATABASE_ACCOUNT = 'automation-db';
/** The worker looks the account up by this name (src/execution/sandbox/job-account.ts). */
const JOB_ACCOUNT = 'automation-job';

/** @typedef {{ name: string, uid: number, gid: number }} Account */

/**
 * Returns the account of PostgreSQL, which refuses to run as root. Creates a system account if none
 * exists. Null if this process is not root.
 *
 * @returns {Promise<Account | null>}
 */
export async function databaseAccount() {
  if (process.getuid?.() !== 0) return null;
  const account = await namedAccount(DATABASE_ACCOUNT);
  if (account) return account;
  const fallback = (await lookUp('postgres')) ?? (await lookUp('nobody'));
  if (fallback) return fallback;
  throw new Problem(
    'PostgreSQL cannot run as root and no unprivileged account could be created: ' +
      'run as another user, or set DATABASE_URL to your own server',
  );
}

/**
 * Creates the account of runs if this process is root. If that fails, the worker uses an account that
 * every system has.
 */
export async function provideJobAccount() {
  if (process.getuid?.() === 0) await namedAccount(JOB_ACCOUNT);
}

/**
 * Returns options of spawn that run a command as the account; none for null.
 *
 * @param {Account | null} account
 */
export function asAccount(account) {
  return account ? { uid: account.uid, gid: account.gid } : {};
}

/**
 * Returns true if the account can enter and write the folder, which a process of the account tests.
 *
 * @param {Account | null} account
 * @param {string} folder
 */
export function canUse(account, folder) {
  return succeeds(account, 'test', ['-w', folder, '-a', '-x', folder]);
}

/**
 * Returns true if the account can run the program; false also if it cannot read the libraries.
 *
 * @param {Account | null} account
 * @param {string} file
 * @param {readonly string[]} args
 */
export function canRun(account, file, args) {
  return succeeds(account, file, args);
}

/**
 * @param {Account | null} account
 * @param {string} file
 * @param {readonly string[]} args
 */
function succeeds(account, file, args) {
  const result = spawnSync(file, args, { ...asAccount(account), cwd: '/', stdio: 'ignore' });
  return result.status === 0;
}

/**
 * @param {string} name
 * @returns {Promise<Account | null>}
 */
async function lookUp(name) {
  const uid = await idOf('-u', name);
  const gid = await idOf('-g', name);
  return uid === null || gid === null ? null : { name, uid, gid };
}

/**
 * @param {'-u' | '-g'} flag
 * @param {string} name
 */
async function idOf(flag, name) {
  const { code, stdout } = await run('id', [flag, name], { anyCode: true });
  return code === 0 ? Number(stdout.trim()) : null;
}

/**
 * Returns the account of this name, which is created if it is missing; null if it cannot be created.
 *
 * @param {string} name
 */
export async function namedAccount(name) {
  return (await lookUp(name)) ?? (await create(name));
}

// useradd is in Debian and Red Hat, adduser with these options in BusyBox.
/**
 * @param {string} name
 * @returns {Promise<Account | null>}
 */
async function create(name) {
  /** @type {[string, string[]][]} */
  const attempts = [
    [
      'useradd',
      ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name],
    ],
    ['adduser', ['-S', '-D', '-H', name]],
  ];
  for (const [file, args] of attempts) {
    await run(file, args, { anyCode: true }).catch(() => null);
    const account = await lookUp(name);
    if (account) return account;
  }
  return null;
}
