import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { realpath, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Plan } from './bubblewrap.js';
import type { ContainerPlan } from './container.js';
import { findContainer } from './container-isolation.js';
import { jobAccount } from './job-account.js';
import { messageOf } from '../../common/errors/message-of.js';
import { complaintOf } from './probe.js';
import { ownProcessors, Processors } from './processors.js';
import { systemCallFilter } from './system-calls.js';
import { systemArguments } from './system-view.js';

const execute = promisify(execFile);

/** The isolation of this worker's runs from the installation. */
export type Isolation =
  | { readonly mode: 'bubblewrap'; readonly detail: string; readonly plan: Plan }
  | { readonly mode: 'container'; readonly detail: string; readonly plan: ContainerPlan }
  | { readonly mode: 'none'; readonly detail: string; readonly isWanted: boolean };

/**
 * Error messages with a fix for the operator. The first match is used, because many messages end with the
 * same words.
 */
const ADVICE: readonly (readonly [complaint: RegExp, advice: string])[] = [
  [/^bwrap is not installed/, 'install the package bubblewrap'],
  [/podman is not installed/, 'install the package podman'],
  [/newuidmap|subuid/, 'install the package uidmap, and give the account ranges in /etc/subuid'],
  [/Docker daemon|docker\.sock/, 'the worker needs a running engine, and the right to use it'],
  [/crun: .*cgroup/, 'install the package runc, and name it as runtime in containers.conf'],
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

/** Kinds of isolation in order of preference; the first that works is used. */
const KINDS = ['bubblewrap', 'container'] as const;
const FINDERS = { bubblewrap, container };

/** Tries the isolation that `JOB_ISOLATION` names, with the arguments of a real run. */
export async function findIsolation(settings: Settings): Promise<Isolation> {
  const { JOB_ISOLATION: wanted, JOB_CONTAINER_IMAGE: image } = settings;
  if (wanted === 'none') return { mode: 'none', detail: 'JOB_ISOLATION is none', isWanted: true };
  const complaints: string[] = [];
  for (const kind of wanted === 'auto' ? KINDS : KINDS.filter((one) => one === wanted)) {
    // Without an image, containers are not configured.
    if (wanted === 'auto' && kind === 'container' && image === '') continue;
    const found = await FINDERS[kind](settings);
    if (typeof found !== 'string') return found;
    complaints.push(found);
  }
  return { mode: 'none', detail: complaints.join('; '), isWanted: false };
}

async function container(settings: Settings): Promise<Isolation | string> {
  const found = await findContainer(settings, await realDataDir(settings));
  return typeof found === 'string' ? advised(found) : { mode: 'container', ...found };
}

/** Returns a bubblewrap configuration that works, or the reason why none works. */
async function bubblewrap(settings: Settings): Promise<Isolation | string> {
  const account = await jobAccount().catch(messageOf);
  if (typeof account === 'string') return account;
  const system = await systemArguments(settings, await realDataDir(settings));
  const isRoot = process.getuid?.() === 0;
  const { JOB_CPUS, JOB_OPEN_FILES } = settings;
  const openFiles = Math.min(JOB_OPEN_FILES, (await ownLimit('open files')) ?? Infinity);
  const processors = new Processors(await ownProcessors(), JOB_CPUS);
  const complaints: string[] = [];
  for (const way of ways(JOB_CPUS > 0)) {
    const plan = {
      kind: 'bubblewrap' as const,
      ...way,
      isRoot,
      account,
      system,
      openFiles,
      processors,
    };
    const complaint = await complaintOf(plan, settings).catch(messageOf);
    if (complaint === null) return { mode: 'bubblewrap', detail: await detailOf(plan), plan };
    complaints.push(complaint);
  }
  return advised(complaints[0] ?? '');
}

/**
 * Returns the variants to try, the safest first. Variants with open user namespaces are for an older
 * bubblewrap or a container that permits fewer namespaces. Variants without a filter are for processors
 * without a filter and kernels without seccomp.
 */
function ways(keepsProcessors: boolean): Pick<Plan, 'closesUserNamespaces' | 'filter'>[] {
  const filter = systemCallFilter(process.arch, keepsProcessors);
  return (filter ? [filter, null] : [null]).flatMap((one) =>
    [true, false].map((closesUserNamespaces) => ({ closesUserNamespaces, filter: one })),
  );
}

/** Returns the path of the data folder without symbolic links. */
export function realDataDir({ DATA_DIR }: Settings): Promise<string> {
  return realpath(DATA_DIR).catch(() => resolve(DATA_DIR));
}

async function detailOf({ closesUserNamespaces, filter }: Plan): Promise<string> {
  const version = (await execute('bwrap', ['--version'])).stdout.trim();
  return [
    version,
    ...(filter ? [] : ['system calls are not filtered']),
    // The filter forbids user namespaces, too.
    ...(closesUserNamespaces || filter ? [] : ['runs can make user namespaces of their own']),
  ].join('; ');
}

/** Returns an error message with its fix, if one is known. */
export function advised(complaint: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(complaint))?.[1];
  return advice === undefined ? complaint : `${complaint} (${advice})`;
}

/**
 * Returns the reason why this worker must not take runs; null if it can take runs. With `auto`,
 * runs start without isolation only if that exposes no other tenant: not as root, and with a single
 * organization.
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

/** Returns a hard limit of this process, which its child processes inherit; null: unlimited. */
export async function ownLimit(name: 'open files' | 'processes'): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, max] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(limits) ?? [];
  return max === undefined ? null : Number(max);
}

/**
 * Returns the process limit that a container engine can request, at most `pid_max`, because Podman first
 * lowers its own limit to `pid_max`.
 */
export async function maxProcesses(): Promise<number | null> {
  const numbered = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''));
  const own = await ownLimit('processes');
  return numbered > 0 ? Math.min(own ?? Infinity, numbered) : own;
}
