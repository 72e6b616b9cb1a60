import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Plan } from './bubblewrap.js';
import { jobAccount } from './job-account.js';
import { messageOf } from '../../common/errors/message-of.js';
import { complaintOf } from './probe.js';
import { ownProcessors, Processors } from './processors.js';
import { systemCallFilter } from './system-calls.js';
import { systemArguments } from './system-view.js';

const execute = promisify(execFile);

/** What keeps the runs of this worker apart from the installation. */
export type Isolation =
  | { readonly mode: 'bubblewrap'; readonly detail: string; readonly plan: Plan }
  | { readonly mode: 'none'; readonly detail: string; readonly isWanted: boolean };

/**
 * Complaints of bubblewrap that the operator can do something about, and what. The first that fits
 * counts: the last words of many are the same.
 */
const ADVICE: readonly (readonly [complaint: RegExp, advice: string])[] = [
  [/not installed/, 'install the package bubblewrap'],
  [
    /uid map: Permission denied|RTM_NEWADDR/,
    'AppArmor restricts user namespaces: load its profile bwrap-userns-restrict, or one for /usr/bin/bwrap with "userns,"',
  ],
  [/No space left on device|ENOSPC/, 'raise the sysctl user.max_user_namespaces'],
  [/[Cc]an't mount proc/, 'the container masks /proc: unmask it (docs/security.md)'],
  [
    /No permissions to creat|Creating new namespace failed|Operation not permitted/,
    'user namespaces are not permitted: see the seccomp profile of the container, or the sysctl kernel.unprivileged_userns_clone',
  ],
  [/Unknown option/, 'bubblewrap is older than 0.5'],
];

/** Tries what the setting wants with the arguments of a real run. */
export async function findIsolation(settings: Settings): Promise<Isolation> {
  if (settings.JOB_ISOLATION === 'none') {
    return { mode: 'none', detail: 'JOB_ISOLATION is none', isWanted: true };
  }
  const detail = await bubblewrap(settings);
  return typeof detail === 'string' ? { mode: 'none', detail, isWanted: false } : detail;
}

/** @returns why it does not work when it does not */
async function bubblewrap(settings: Settings): Promise<Isolation | string> {
  const account = await jobAccount().catch(messageOf);
  if (typeof account === 'string') return account;
  const system = await systemArguments(settings, await realDataDir(settings));
  const isRoot = process.getuid?.() === 0;
  const openFiles = await openFilesFor(settings);
  const { JOB_CPUS } = settings;
  const processors = new Processors(await ownProcessors(), JOB_CPUS);
  const complaints: string[] = [];
  for (const way of ways(JOB_CPUS > 0)) {
    const plan = { ...way, isRoot, account, system, openFiles, processors };
    const complaint = await complaintOf(plan, settings).catch(messageOf);
    if (complaint === null) return { mode: 'bubblewrap', detail: await detailOf(plan), plan };
    complaints.push(complaint);
  }
  return advised(complaints[0] ?? '');
}

/**
 * The best first. Without closed user namespaces for an older bubblewrap, or a container that permits
 * fewer namespaces; without a filter for processors it is not made for, and kernels that have none.
 */
function ways(keepsProcessors: boolean): Pick<Plan, 'closesUserNamespaces' | 'filter'>[] {
  const filter = systemCallFilter(process.arch, keepsProcessors);
  return (filter ? [filter, null] : [null]).flatMap((one) =>
    [true, false].map((closesUserNamespaces) => ({ closesUserNamespaces, filter: one })),
  );
}

function realDataDir({ DATA_DIR }: Settings): Promise<string> {
  return realpath(DATA_DIR).catch(() => resolve(DATA_DIR));
}

/** What the setting says, or less where this process may not have as many itself. */
async function openFilesFor({ JOB_OPEN_FILES }: Settings): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, most] = /^Max open files +\S+ +(\d+)/m.exec(limits) ?? [];
  return Math.min(JOB_OPEN_FILES, most === undefined ? Infinity : Number(most));
}

async function detailOf({ closesUserNamespaces, filter }: Plan): Promise<string> {
  const version = (await execute('bwrap', ['--version'])).stdout.trim();
  return [
    version,
    ...(filter ? [] : ['system calls are not filtered']),
    // The filter refuses them, too.
    ...(closesUserNamespaces || filter ? [] : ['runs can make user namespaces of their own']),
  ].join('; ');
}

function advised(complaint: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(complaint))?.[1];
  return advice === undefined ? complaint : `${complaint} (${advice})`;
}

/**
 * Why no runs may be taken; null when they may. `auto` takes them without isolation only where nobody
 * is betrayed by it: not as root, and for one organization.
 */
export async function refusalOf(
  isolation: Isolation,
  wanted: string,
  servesSeveral: () => Promise<boolean>,
): Promise<string | null> {
  if (isolation.mode !== 'none' || isolation.isWanted) return null;
  const reason = `Runs cannot be isolated: ${isolation.detail}.`;
  if (wanted !== 'auto') return reason;
  if (process.getuid?.() === 0) return `${reason} As root this worker runs none without.`;
  return (await servesSeveral())
    ? `${reason} With more than one organization this worker runs none without.`
    : null;
}
