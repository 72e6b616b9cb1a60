import { join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Bind, Command, SandboxSpec, Launch } from './command.js';
import type { JobAccount } from './job-account.js';
import type { Processors } from './processors.js';
import { bindArguments } from './system-view.js';

/** The configuration of bubblewrap on this machine. */
export interface Plan {
  readonly kind: 'bubblewrap';
  /**
   * True if this process is root. Root creates the mounts and runs the command as an unprivileged account.
   * Other accounts create the mounts in a user namespace.
   */
  readonly isRoot: boolean;
  /**
   * True if the command cannot create user namespaces, which would expose much more of the kernel. If
   * false, the process limit applies to all runs of the account together.
   */
  readonly closesUserNamespaces: boolean;
  readonly account: JobAccount;
  /** Arguments that {@link systemArguments} returned. */
  readonly system: readonly string[];
  /** Maximum number of open files of the command; never above the limit of this process. */
  readonly openFiles: number;
  readonly processors: Processors;
  /** The filter that `systemCallFilter` returned; null if system calls are not filtered. */
  readonly filter: Buffer | null;
}

type Limits = Pick<Settings, 'JOB_PROCESSES' | 'JOB_FILE_BYTES' | 'JOB_TMP_BYTES'>;

/** Size of `/dev/shm` and `/var/tmp`, in bytes. */
export const SMALL_FOLDER_BYTES = 64 * 1024 * 1024;
/**
 * Shell script that replaces itself with bubblewrap, which reads the system call filter and its
 * options from file descriptors. Options on the command line would show paths of the machine to
 * every run, in `/proc/1/cmdline`.
 */
const PRELUDE = 'exec 4< "$0" 5< "$1"; shift; exec "$@"';
/** Capabilities that root keeps until the command runs as the account. */
const SETUP_CAPABILITIES = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];
/** Files of `/etc` that are written for each command. */
export const IDENTITY_FILES = ['passwd', 'group', 'hosts'] as const;
/** Name of the account inside the sandbox, independent of its name outside. */
export const INNER_ACCOUNT = 'runner';

/**
 * Returns how to start a command in the sandbox that `bubblewrapOptions` describes, under an
 * unprivileged account and with limits.
 */
export function bubblewrapLaunch(
  command: Command,
  spec: SandboxSpec,
  plan: Plan,
  limits: Limits,
): Launch {
  return {
    file: 'sh',
    args: [
      '-c',
      PRELUDE,
      plan.filter ? filterFile(spec) : '/dev/null',
      optionsFile(spec),
      ...affinityArguments(plan.processors.take()),
      'bwrap',
      '--args',
      '5',
      '--',
      ...(plan.isRoot ? dropPrivileges(plan) : []),
      ...withLimits(command, spec, plan, limits),
    ],
    environment: innerEnvironment(command, spec),
    // Working directory of bubblewrap itself; the command starts in its own folder.
    cwd: '/',
    depth: plan.isRoot && plan.closesUserNamespaces ? 1 : 0,
    killSignal: 'SIGKILL',
  };
}

/**
 * Returns the options of bubblewrap: an allow list of mounts; namespaces for processes, IPC and
 * host name; no capabilities.
 */
export function bubblewrapOptions(spec: SandboxSpec, plan: Plan, limits: Limits): string[] {
  // With two nested bubblewraps, only the inner bubblewrap is filtered: the filter would refuse the
  // system calls of the outer bubblewrap.
  const isFilteredInside = plan.isRoot && plan.closesUserNamespaces;
  return [
    ...(isFilteredInside ? [] : filterArguments(plan)),
    ...(plan.isRoot ? [] : userNamespace(plan)),
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(spec.hasNetwork ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...(plan.isRoot ? SETUP_CAPABILITIES.flatMap((name) => ['--cap-add', name]) : []),
    '--hostname',
    spec.name,
    '--info-fd',
    '3',
    ...mounts(spec, plan, limits),
  ];
}

/**
 * Returns the arguments that restrict the command to processors. Child processes inherit the affinity; the
 * system call filter prevents the command from changing the affinity.
 */
const affinityArguments = (processors: readonly number[]): string[] =>
  processors.length > 0 ? ['taskset', '-c', processors.join(',')] : [];

function filterArguments({ filter }: Plan): string[] {
  return filter ? ['--seccomp', '4'] : [];
}

/** Returns the path of the system call filter of a command. The sandbox does not contain the file. */
export const filterFile = ({ root }: SandboxSpec): string => join(root, 'filter');

/** Returns the path of the file with the bubblewrap options of one command, each terminated by NUL. */
export const optionsFile = ({ root }: SandboxSpec): string => join(root, 'options');

function userNamespace({ closesUserNamespaces }: Plan): string[] {
  return ['--unshare-user', ...(closesUserNamespaces ? ['--disable-userns'] : [])];
}

/** Returns the binds of the files of `/etc` that are written for a command. */
export const identityBinds = ({ root }: SandboxSpec): Bind[] =>
  IDENTITY_FILES.map((name) => ({ from: join(root, name), to: `/etc/${name}` }));

function mounts(spec: SandboxSpec, plan: Plan, limits: Limits): string[] {
  const temporary = (path: string, bytes: number): string[] => [
    '--perms',
    '1777',
    '--size',
    String(bytes),
    '--tmpfs',
    path,
  ];
  return [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--dir',
    '/run',
    '--dir',
    '/var',
    ...temporary('/dev/shm', SMALL_FOLDER_BYTES),
    '--remount-ro',
    '/dev',
    ...temporary('/tmp', limits.JOB_TMP_BYTES),
    ...temporary('/var/tmp', SMALL_FOLDER_BYTES),
    // After `/tmp`, because the operator's paths can be below `/tmp`.
    ...plan.system,
    ...bindArguments(...identityBinds(spec), ...spec.binds),
    '--remount-ro',
    '/',
  ];
}

/**
 * Returns the commands that drop root's capabilities. If user namespaces are closed, a second bubblewrap runs
 * as the account: it only creates a user namespace, in which processes are counted for this command alone,
 * and forbids further user namespaces.
 */
function dropPrivileges(plan: Plan): string[] {
  const { uid, gid } = plan.account;
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--no-new-privs',
    ...(plan.closesUserNamespaces
      ? [
          'bwrap',
          ...filterArguments(plan),
          ...userNamespace(plan),
          '--cap-drop',
          'ALL',
          '--dev-bind',
          '/',
          '/',
          '--',
        ]
      : []),
  ];
}

/**
 * Returns the command with its limits. The limits are set inside, so that processes are counted in the
 * command's own user namespace.
 */
function withLimits(
  { file, args, cwd }: Command,
  { maxFileBytes }: SandboxSpec,
  { openFiles }: Plan,
  limits: Limits,
): string[] {
  const fileBytes = maxFileBytes ?? limits.JOB_FILE_BYTES;
  return [
    // The account itself enters the folder: root no longer has the capability to enter a folder of
    // another account.
    'env',
    '-C',
    cwd,
    'prlimit',
    '--core=0',
    `--nofile=${openFiles}`,
    `--nproc=${limits.JOB_PROCESSES}`,
    `--fsize=${fileBytes}`,
    '--',
    file,
    ...args,
  ];
}

/** Returns the environment of a command inside the sandbox. */
export function innerEnvironment(
  { environment }: Command,
  { home }: SandboxSpec,
): Record<string, string> {
  const inherited = Object.entries(environment).filter(([name]) => name !== 'SHELL');
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    USER: INNER_ACCOUNT,
    LOGNAME: INNER_ACCOUNT,
    TMPDIR: '/tmp',
  };
}
