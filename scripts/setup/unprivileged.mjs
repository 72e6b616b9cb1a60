import { join } from 'node:path';

import { note } from '../console/progress.mjs';
import {
  asServiceAccount,
  handToService,
  serviceAccount,
  worksHere,
  WRITTEN,
} from '../services/service-account.mjs';

/** What stands for the boundary around a run (src/execution/boundary): may the account make one? */
const SMALL_BOUNDARY = [
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
 * How the programs of the service are started where this process is root: as an account of their own.
 *
 * @typedef {{ file: string, args: readonly string[] }} Command
 * @typedef {{ account: import('../services/account.mjs').Account,
 *   command: (command: Command, port?: number) => Command }} Unprivileged
 */

/**
 * Resolves to null where this process is not root, and where it has to stay root: the operator says
 * so, or no account reaches the service here, which is told.
 *
 * @param {import('./settings.mjs').StartSettings} settings
 * @returns {Promise<Unprivileged | null>}
 */
export async function provideUnprivileged({ root, dataDir, serviceAccount: name }) {
  const account = await serviceAccount(name);
  if (!account) return null;
  await handToService(account, dataDir);
  const own = ['dist', 'node_modules', 'package.json', 'package-lock.json'].map((path) =>
    join(root, path),
  );
  const needs = [...own, ...[...WRITTEN, 'venv'].map((path) => join(dataDir, path))];
  /** @type {Unprivileged['command']} */
  const command = (wanted, port) => asServiceAccount(account, wanted, { needs, port });
  const files = [join(root, 'dist', 'main.js'), join(root, 'package-lock.json')];
  const readable = files.flatMap((file) => ['-r', file, '-a']);
  if (worksHere(command({ file: 'test', args: [...readable, '-x', process.execPath] }))) {
    return { account, command };
  }
  note(`! the account ${account.name} cannot reach ${root}: API and worker stay root`);
  return null;
}

/**
 * Whether the worker may be started as the account. Where it could not isolate runs as that one, it
 * stays root, which hands each run to an account instead.
 *
 * @param {Unprivileged} unprivileged
 * @param {{ find(tool: string): string | null }} tools
 * @param {NodeJS.ProcessEnv} environment
 */
export function workerMayDrop({ account, command }, tools, environment) {
  if (environment.JOB_ISOLATION === 'none') return true;
  // Its engine, and the image, are those of root.
  if (environment.JOB_ISOLATION === 'container') return false;
  const file = tools.find('bwrap');
  if (file && worksHere(command({ file, args: SMALL_BOUNDARY }))) return true;
  note(`! the account ${account.name} cannot isolate runs here: the worker stays root`);
  return false;
}
