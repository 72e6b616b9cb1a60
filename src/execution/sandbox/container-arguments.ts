import { lstat } from 'node:fs/promises';
import type { Settings } from '../../config/settings.js';
import { filterFile, identityBinds, SMALL_FOLDER_BYTES } from './bubblewrap.js';
import type { Bind, SandboxSpec } from './command.js';
import type { ContainerPlan } from './container.js';
import type { Cover } from './system-view.js';
import { withoutTrailing } from '../../common/fields/text.js';

/** Settings that limit the resources of a command. */
export type Limits = Pick<
  Settings,
  'JOB_PROCESSES' | 'JOB_FILE_BYTES' | 'JOB_TMP_BYTES' | 'JOB_MEMORY_BYTES' | 'JOB_CPUS'
>;

/**
 * Factor between the limit that the worker monitors and the kernel's limit. The worker's limit is
 * lower, because only the worker can report why a run ended.
 */
const MEMORY_MARGIN = 1.25;

/**
 * Options that disable defaults of Podman. The defaults would make `/run` and volumes of the image
 * writable, and pass the proxy variables of the worker to the container.
 */
const PODMAN_OPTIONS = ['--read-only-tmpfs=false', '--image-volume=ignore', '--http-proxy=false'];

/** Returns the arguments that restrict the privileges of the command. */
export function confinement(spec: SandboxSpec, plan: ContainerPlan): string[] {
  const { uid, gid } = plan.account;
  return [
    `--user=${uid}:${gid}`,
    '--read-only',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    '--security-opt=label=disable',
    ...(plan.filter ? [`--security-opt=seccomp=${filterFile(spec)}`] : []),
    `--network=${spec.hasNetwork ? 'host' : 'none'}`,
    ...(plan.isPodman ? PODMAN_OPTIONS : []),
    // In the user namespace of a rootless user, ids inside a container differ from the ids outside,
    // unless `keep-id` is set.
    ...(plan.isPodman && !plan.isRoot ? ['--userns=keep-id'] : []),
    // Output of the command goes to the worker only.
    '--log-driver=none',
  ];
}

/** Returns the arguments that limit the resources of the command. */
export function limitArguments(
  { maxFileBytes }: SandboxSpec,
  { openFiles, maxProcesses, isPodman, isRoot }: ContainerPlan,
  limits: Limits,
): string[] {
  const { JOB_PROCESSES, JOB_FILE_BYTES, JOB_TMP_BYTES, JOB_MEMORY_BYTES, JOB_CPUS } = limits;
  const ulimit = (name: string, max: number): string => `--ulimit=${name}=${max}:${max}`;
  // The limit applies to the container if it has its own user namespace, otherwise to all processes of
  // the account.
  const processes = isPodman && !isRoot ? JOB_PROCESSES : maxProcesses;
  const temporaryBytes = JOB_TMP_BYTES + 2 * SMALL_FOLDER_BYTES;
  const memory = Math.ceil(JOB_MEMORY_BYTES * MEMORY_MARGIN) + temporaryBytes;
  return [
    `--pids-limit=${JOB_PROCESSES}`,
    ...(JOB_MEMORY_BYTES > 0 ? [`--memory=${memory}`] : []),
    ...(JOB_CPUS > 0 ? [`--cpus=${JOB_CPUS}`] : []),
    ulimit('core', 0),
    ulimit('nofile', openFiles),
    ulimit('fsize', maxFileBytes ?? JOB_FILE_BYTES),
    ...(processes === null ? [] : [ulimit('nproc', processes)]),
  ];
}

/** Returns the mounts of the command besides the image. */
export async function mounts(
  spec: SandboxSpec,
  plan: ContainerPlan,
  limits: Limits,
): Promise<string[]> {
  const binds = bindsByPath([...plan.shown, ...identityBinds(spec), ...spec.binds]);
  const shown = await Promise.all([...binds.values()].map(bindArguments));
  const folders = [
    { path: '/tmp', bytes: limits.JOB_TMP_BYTES },
    { path: '/var/tmp', bytes: SMALL_FOLDER_BYTES },
  ];
  return [
    `--shm-size=${SMALL_FOLDER_BYTES}`,
    ...folders
      .filter(({ path }) => !binds.has(path))
      .map(({ path, bytes }) => temporary(path, bytes, plan)),
    ...plan.covered.map(coverArgument),
    ...shown.flat(),
  ];
}

/**
 * Returns the binds by their path inside, because engines reject a duplicate path. A later bind replaces an
 * earlier bind.
 */
const bindsByPath = (binds: readonly Bind[]): Map<string, Bind> =>
  new Map(binds.map((bind) => [withoutTrailing(bind.to ?? bind.from, '/'), bind]));

function temporary(path: string, bytes: number, { isPodman }: ContainerPlan): string {
  const options = `rw,exec,nosuid,nodev,mode=1777,size=${bytes}`;
  // Without `notmpcopyup`, Podman copies the files of the image at this path into the mount.
  return `--tmpfs=${path}:${options}${isPodman ? ',notmpcopyup' : ''}`;
}

const coverArgument = ({ path, isFolder }: Cover): string =>
  isFolder
    ? `--tmpfs=${path}:ro,nosuid,nodev,mode=755,size=1048576`
    : mountOf({ from: '/dev/null', to: path });

async function bindArguments(bind: Bind): Promise<string[]> {
  // Engines refuse to mount a path that does not exist.
  const exists = !bind.isOptional || (await lstat(bind.from).catch(() => null)) !== null;
  return exists ? [mountOf(bind)] : [];
}

function mountOf({ from, to = from, isWritable }: Bind): string {
  const fields = ['type=bind', `source=${from}`, `target=${to}`];
  return `--mount=${[...fields, ...(isWritable ? [] : ['readonly'])].map(quoted).join(',')}`;
}

/** Quotes a field of an engine option, which is one line of comma-separated values. */
const quoted = (field: string): string =>
  /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
