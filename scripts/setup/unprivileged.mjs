import { join } from 'node:path';

import { note } from '../console/progress.mjs';
import {
  asServiceAccount,
  chownFolders,
  serviceAccount,
  canRunCommand,
  SERVICE_FOLDERS,
} from '../services/service-account.mjs';

/**
 * Minimal sandbox, like that of a run (src/execution/sandbox), which tests if the account can create one.
 */
const MINIMAL_SANDBOX = [
  '--unshare-user',
  '--unshare-pid',
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--',
  'true',
];

/**
 * Account and command of the service's programs if this process is root.
 *
 * @typedef {{ file: string, args: readonly string[] }} Command
 * @typedef {{ account: import('../services/account.mjs').Account,
 *   command: (command: Command, port?: number) => Command }} Unprivileged
 */

/**
 * Resolves to null if this process is not root, or has to stay root: because of a setting, or because no
 * account can reach the service here, which is reported.
 *
 * @param {import('./settings.mjs').StartSettings} settings
 * @returns {Promise<Unprivileged | null>}
 */
export async function provideUnprivileged({ root, dataDir, serviceAccount: name }) {
  const account = await serviceAccount(name);
  if (!account) return null;
  await chownFolders(account, dataDir);
  const sources = ['dist', 'node_modules', 'package.json', 'package-lock.json'].map((path) =>
    join(root, path),
  );
  const needs = [...sources, ...[...SERVICE_FOLDERS, 'venv'].map((path) => join(dataDir, path))];
  /** @type {Unprivileged['command']} */
  const command = (program, port) => asServiceAccount(account, program, { needs, port });
  const files = [join(root, 'dist', 'main.js'), join(root, 'package-lock.json')];
  const readable = files.flatMap((file) => ['-r', file, '-a']);
  if (canRunCommand(command({ file: 'test', args: [...readable, '-x', process.execPath] }))) {
    return { account, command };
  }
  note(`! the account ${account.name} cannot reach ${root}: API and worker stay root`);
  return null;
}

/**
 * Returns true if the worker may run as the account. If the account cannot isolate runs, the worker stays
 * root, and starts each run as another account.
 *
 * @param {Unprivileged} unprivileged
 * @param {{ find(tool: string): string | null }} tools
 * @param {NodeJS.ProcessEnv} environment
 */
export function canDropRoot({ account, command }, tools, environment) {
  if (environment.JOB_ISOLATION === 'none') return true;
  // The engine and its images belong to root.
  if (environment.JOB_ISOLATION === 'container') return false;
  const file = tools.find('bwrap');
  if (file && canRunCommand(command({ file, args: MINIMAL_SANDBOX }))) return true;
  note(`! the account ${account.name} cannot isolate runs here: the worker stays root`);
  return false;
}
