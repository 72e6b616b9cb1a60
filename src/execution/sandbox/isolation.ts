import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { realpath, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Plan } from './bubblewrap.js';
import type { ContainerPlan } from './container.js';
import { findContainer } from './container-isolation.js';
import { jobAccount } from './job-account.js';
import { messageOf } from '../../common/errors/errors.js';
import { probeError } from './probe.js';
import { allowedProcessors, Processors } from './processors.js';
import { systemCallFilter } from './system-calls.js';
import { systemArguments } from './system-view.js';

const execute = promisify(execFile);

/** The isolation of this worker's runs from the installation. */
export type Isolation =
  | { readonly mode: 'bubblewrap'; readonly detail: string; readonly plan: Plan }
  | { readonly mode: 'container'; readonly detail: string; readonly plan: ContainerPlan }
  | { readonly mode: 'none'; readonly detail: string; readonly isChosen: boolean };

/**
 * Advice for the operator by pattern of the error. The first match is used: specific patterns are first, because
 * many messages end with the same words.
 */
const ADVICE: readonly (readonly [complaint: RegExp, advice: string])[] = [
  [/^bwrap is not installed/, 'install the package bubblewrap'],
  [/podman is not installed/, 'install the package podman'],
  [/newuidmap|subuid/, 'install the package uidmap, and give the account ranges in /etc/subuid'],
  [/Docker daemon|docker\.sock/, 'the worker needs a running engine and permission to use it'],
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

/** Kinds of isolation in order of preference; the first working kind is used. */
const KINDS = ['bubblewrap', 'container'] as const;
const FINDERS = { bubblewrap, container };

/**
 * Returns the isolation that `JOB_ISOLATION` names; for `auto` the first kind that works. Without a working kind
 * the mode is `none`, with the errors. Each kind is tried with the arguments of a real run.
 */
export async function findIsolation(settings: Settings): Promise<Isolation> {
  const { JOB_ISOLATION: wanted, JOB_CONTAINER_IMAGE: image } = settings;
  if (wanted === 'none') return { mode: 'none', detail: 'JOB_ISOLATION is none', isChosen: true };
  const errors: string[] = [];
  for (const kind of wanted === 'auto' ? KINDS : KINDS.filter((name) => name === wanted)) {
    // Without an image, containers are not configured.
    if (wanted === 'auto' && kind === 'container' && image === '') continue;
    const found = await FINDERS[kind](settings);
    if (typeof found !== 'string') return found;
    errors.push(found);
  }
  return { mode: 'none', detail: errors.join('; '), isChosen: false };
}

async function container(settings: Settings): Promise<Isolation | string> {
  const found = await findContainer(settings, await realDataDir(settings));
  return typeof found === 'string' ? withAdvice(found) : { mode: 'container', ...found };
}

/** Returns a bubblewrap configuration that works, or the reason why none works. */
async function bubblewrap(settings: Settings): Promise<Isolation | string> {
  const account = await jobAccount().catch(messageOf);
  if (typeof account === 'string') return account;
  const system = await systemArguments(settings, await realDataDir(settings));
  const isRoot = process.getuid?.() === 0;
  const { JOB_CPUS, JOB_OPEN_FILES } = settings;
  const openFiles = Math.min(JOB_OPEN_FILES, (await processLimit('open files')) ?? Infinity);
  const processors = new Processors(await allowedProcessors(), JOB_CPUS);
  const errors: string[] = [];
  for (const variant of variants(JOB_CPUS > 0)) {
    const plan = {
      kind: 'bubblewrap' as const,
      ...variant,
      isRoot,
      account,
      system,
      openFiles,
      processors,
    };
    const error = await probeError(plan, settings).catch(messageOf);
    if (error === null) return { mode: 'bubblewrap', detail: await detailOf(plan), plan };
    errors.push(error);
  }
  return withAdvice(errors[0] ?? '');
}

/**
 * Returns the variants to try, the safest first. Variants in which programs can create user
 * namespaces are for an older bubblewrap or a container that permits fewer namespaces. Variants without a filter
 * are for architectures that have no filter and kernels without seccomp.
 */
function variants(refusesAffinity: boolean): Pick<Plan, 'closesUserNamespaces' | 'filter'>[] {
  const filter = systemCallFilter(process.arch, refusesAffinity);
  return (filter ? [filter, null] : [null]).flatMap((candidate) =>
    [true, false].map((closesUserNamespaces) => ({ closesUserNamespaces, filter: candidate })),
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
    ...(closesUserNamespaces || filter ? [] : ['runs can create user namespaces']),
  ].join('; ');
}

/** Returns an error message, with advice if the error is known. */
export function withAdvice(error: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(error))?.[1];
  return advice === undefined ? error : `${error} (${advice})`;
}

/**
 * Returns the reason why this worker must not take runs; null if it can take runs. With `auto`,
 * runs start without isolation only if they expose no other tenant: not as root, and with a single
 * organization.
 */
export async function refusalOf(
  isolation: Isolation,
  wanted: string,
  hasSeveralOrganizations: () => Promise<boolean>,
): Promise<string | null> {
  if (isolation.mode !== 'none' || isolation.isChosen) return null;
  const reason = `Runs cannot be isolated: ${isolation.detail}.`;
  if (wanted !== 'auto') return reason;
  if (process.getuid?.() === 0)
    return `${reason} As root this worker starts no runs without isolation.`;
  return (await hasSeveralOrganizations())
    ? `${reason} With more than one organization this worker starts no runs without isolation.`
    : null;
}

/** Returns a hard limit of this process, which its child processes inherit; null: unlimited or unknown. */
export async function processLimit(name: 'open files' | 'processes'): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, max] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(limits) ?? [];
  return max === undefined ? null : Number(max);
}

/**
 * Returns the process limit that a container engine can request, at most `pid_max`, because Podman first
 * lowers its own limit to `pid_max`.
 */
export async function maxProcesses(): Promise<number | null> {
  const pidMax = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''));
  const limit = await processLimit('processes');
  return pidMax > 0 ? Math.min(limit ?? Infinity, pidMax) : limit;
}
