import { join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Command, Enclosure, Launch } from './command.js';
import type { Account } from './job-account.js';
import type { Processors } from './processors.js';
import { bindArguments } from './system-view.js';

/** How bubblewrap is used on this machine. */
export interface Plan {
  readonly kind: 'bubblewrap';
  /** Root makes the mounts and hands the command to an account; others do it in a user namespace. */
  readonly isRoot: boolean;
  /**
   * Whether the command can make no user namespaces of its own, which would show it much more of the
   * kernel. Where it cannot, the limit of processes holds for all runs of the account together.
   */
  readonly closesUserNamespaces: boolean;
  readonly account: Account;
  /** What {@link systemArguments} has found. */
  readonly system: readonly string[];
  /** Files the command may have open; no more than this process may itself. */
  readonly openFiles: number;
  readonly processors: Processors;
  /** What `systemCallFilter` gives; null where system calls are not filtered. */
  readonly filter: Buffer | null;
}

type Limits = Pick<Settings, 'JOB_PROCESSES' | 'JOB_FILE_BYTES' | 'JOB_TMP_BYTES'>;

/** `/dev/shm` and `/var/tmp`, in bytes. */
export const SMALL_FOLDER_BYTES = 64 * 1024 * 1024;
/**
 * Becomes bubblewrap, which reads the filter of system calls and its options from descriptors. Options
 * on the command line would show paths of the machine to every run, in `/proc/1/cmdline`.
 */
const PRELUDE = 'exec 4< "$0" 5< "$1"; shift; exec "$@"';
/** What root keeps until it has handed the command over. */
const TO_HAND_OVER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];
/** Files of `/etc` that are made for one command. */
export const IDENTITY_FILES = ['passwd', 'group', 'hosts'] as const;
/** The name of the account inside, whatever it is called outside. */
export const INNER_ACCOUNT = 'runner';

/**
 * Starts a command inside the sandbox that `bubblewrapOptions` describe, with an unprivileged account
 * and limits.
 */
export function bubblewrapped(
  command: Command,
  enclosure: Enclosure,
  plan: Plan,
  limits: Limits,
): Launch {
  return {
    file: 'sh',
    args: [
      ...['-c', PRELUDE, plan.filter ? filterFile(enclosure) : '/dev/null', optionsFile(enclosure)],
      ...keptTo(plan.processors.take()),
      ...['bwrap', '--args', '5', '--'],
      ...(plan.isRoot ? handedOver(plan) : []),
      ...limited(command, enclosure, plan, limits),
    ],
    environment: innerEnvironment(command, enclosure),
    // Where bubblewrap itself starts; the command starts in its own folder.
    cwd: '/',
    depth: plan.isRoot && plan.closesUserNamespaces ? 1 : 0,
    endsBy: 'SIGKILL',
  };
}

/**
 * The options of bubblewrap: an allow list of mounts, namespaces for processes, IPC and names, no
 * capability.
 */
export function bubblewrapOptions(enclosure: Enclosure, plan: Plan, limits: Limits): string[] {
  // With two bubblewraps the inner one is filtered: the filter would refuse the work of the outer one.
  const isFilteredInside = plan.isRoot && plan.closesUserNamespaces;
  return [
    ...(isFilteredInside ? [] : filterArguments(plan)),
    ...(plan.isRoot ? [] : userNamespace(plan)),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(enclosure.hasNetwork ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(plan.isRoot ? TO_HAND_OVER.flatMap((name) => ['--cap-add', name]) : []),
    ...['--hostname', enclosure.name, '--info-fd', '3'],
    ...mounts(enclosure, plan, limits),
  ];
}

/** From here on it is inherited; the filter keeps the command from undoing it. */
const keptTo = (processors: readonly number[]): string[] =>
  processors.length > 0 ? ['taskset', '-c', processors.join(',')] : [];

function filterArguments({ filter }: Plan): string[] {
  return filter ? ['--seccomp', '4'] : [];
}

/** Where the filter of a command stands, beside what it sees. */
export const filterFile = ({ root }: Enclosure): string => join(root, 'filter');

/** File of the options of bubblewrap for one command, each ended by NUL. */
export const optionsFile = ({ root }: Enclosure): string => join(root, 'options');

function userNamespace({ closesUserNamespaces }: Plan): string[] {
  return ['--unshare-user', ...(closesUserNamespaces ? ['--disable-userns'] : [])];
}

function mounts(enclosure: Enclosure, plan: Plan, limits: Limits): string[] {
  const temporary = (path: string, bytes: number): string[] => [
    ...['--perms', '1777', '--size', String(bytes), '--tmpfs', path],
  ];
  const identity = IDENTITY_FILES.map((name) => ({
    from: join(enclosure.root, name),
    to: `/etc/${name}`,
  }));
  return [
    ...['--proc', '/proc', '--dev', '/dev', '--dir', '/run', '--dir', '/var'],
    ...temporary('/dev/shm', SMALL_FOLDER_BYTES),
    ...['--remount-ro', '/dev'],
    ...temporary('/tmp', limits.JOB_TMP_BYTES),
    ...temporary('/var/tmp', SMALL_FOLDER_BYTES),
    // After /tmp: the paths an operator shows may lie below it.
    ...plan.system,
    ...bindArguments(...identity, ...enclosure.binds),
    ...['--remount-ro', '/'],
  ];
}

/**
 * Root's capabilities end here. The second bubblewrap only makes a user namespace: as the account, so
 * that processes are counted for this command alone, and closed, so that there is no further one.
 */
function handedOver(plan: Plan): string[] {
  const { uid, gid } = plan.account;
  return [
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--inh-caps=-all'],
    ...['--bounding-set=-all', '--no-new-privs'],
    ...(plan.closesUserNamespaces
      ? [
          ...['bwrap', ...filterArguments(plan), ...userNamespace(plan), '--cap-drop', 'ALL'],
          ...['--dev-bind', '/', '/', '--'],
        ]
      : []),
  ];
}

/** Inside, so that processes are counted in the command's own user namespace. */
function limited(
  { file, args, cwd }: Command,
  { maxFileBytes }: Enclosure,
  { openFiles }: Plan,
  limits: Limits,
): string[] {
  const fileBytes = maxFileBytes ?? limits.JOB_FILE_BYTES;
  return [
    // By the account itself: root has no capability left to enter a folder that is not its own.
    ...['env', '-C', cwd],
    ...['prlimit', '--core=0', `--nofile=${openFiles}`, `--nproc=${limits.JOB_PROCESSES}`],
    ...[`--fsize=${fileBytes}`, '--', file, ...args],
  ];
}

/** The environment of a command inside. */
export function innerEnvironment(
  { environment }: Command,
  { home }: Enclosure,
): Record<string, string> {
  const rest = Object.entries(environment).filter(([name]) => name !== 'SHELL');
  return {
    ...Object.fromEntries(rest),
    HOME: home,
    USER: INNER_ACCOUNT,
    LOGNAME: INNER_ACCOUNT,
    TMPDIR: '/tmp',
  };
}
