import { hostname } from 'node:os';
import { isAbsolute, normalize, resolve } from 'node:path';
import { MEGABYTE } from './http-settings.js';
import { jobs, system } from './setting.js';

const GIGABYTE = 1024 * MEGABYTE;
/** Maximum of a PostgreSQL integer. */
const MAX_INTEGER = 2 ** 31 - 1;

/** Default modules of ad hoc commands. */
const AD_HOC_MODULES: readonly string[] = [
  'command',
  'shell',
  'yum',
  'apt',
  'apt_key',
  'apt_repository',
  'apt_rpm',
  'service',
  'group',
  'user',
  'mount',
  'ping',
  'selinux',
  'setup',
  'win_ping',
  'win_service',
  'win_updates',
  'win_group',
  'win_user',
];

/** Execution of jobs by workers, and the sandbox around them (docs/contract/runs.md#isolation). */
export const JOB_SETTINGS = {
  AD_HOC_COMMANDS: jobs.list({
    default: AD_HOC_MODULES,
    runtime: true,
    help: 'Modules that ad hoc commands can run; an empty list disables ad hoc commands.',
  }),
  JOB_CONCURRENCY: jobs.integer({
    default: 4,
    min: 1,
    max: 1000,
    help: 'Jobs and project updates that one worker runs at the same time.',
  }),
  INSTANCE_NAME: jobs.string({
    default: '',
    max: 250,
    help: 'Name of the instance that the workers of this machine belong to. Empty: the host name.',
  }),
  INSTANCE_EPHEMERAL: jobs.boolean({
    default: false,
    help: 'Remove the instance when its last worker ends, or after an hour without a heartbeat. For machines with generated names, such as pods.',
  }),
  INSTANCE_CAPACITY: jobs.integer({
    default: 0,
    max: 1_000_000,
    help: 'Capacity in forks of the instance of this worker. 0: calculated from its processors and memory.',
  }),
  SYSTEM_TASK_FORKS_CPU: jobs.integer({
    default: 4,
    min: 1,
    max: 1000,
    help: 'Forks per processor of an instance.',
  }),
  SYSTEM_TASK_FORKS_MEM: jobs.integer({
    default: 100,
    min: 1,
    max: 100_000,
    help: 'Memory per fork on an instance, in megabytes; 2 GB are reserved for the system.',
  }),
  JOB_ISOLATION: jobs.string({
    default: 'auto',
    choices: ['auto', 'bubblewrap', 'container', 'none'],
    help: 'Isolation of runs from this installation. `auto`: bubblewrap if it works, otherwise containers if JOB_CONTAINER_IMAGE is set; if neither works, runs are refused when the service runs as root or has more than one organization. `none`: no isolation.',
  }),
  JOB_CONTAINER_ENGINE: jobs.string({
    default: 'podman',
    help: 'Container engine that isolates runs: Podman or Docker, installed on the machine of the worker.',
  }),
  JOB_CONTAINER_IMAGE: jobs.string({
    default: '',
    help: 'Image of the containers that isolate runs, with ansible-runner, ansible-core, git and ssh. A worker pulls a missing image when it starts.',
  }),
  DEFAULT_EXECUTION_ENVIRONMENT: system.integer({
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    refersTo: 'execution_environment',
    help: 'Id of the default execution environment of runs. 0: runs use the programs of the worker.',
  }),
  AWX_TASK_ENV: jobs.variables({
    default: {},
    runtime: true,
    help: 'Environment variables of every job, ad hoc command and inventory update. Variables of credentials take precedence.',
  }),
  GALAXY_TASK_ENV: jobs.variables({
    default: {},
    runtime: true,
    help: 'Environment variables of ansible-galaxy, which installs the roles and collections of projects.',
  }),
  GALAXY_IGNORE_CERTS: jobs.boolean({
    default: false,
    runtime: true,
    help: 'Ignore invalid certificates of Galaxy servers.',
  }),
  DEFAULT_JOB_IDLE_TIMEOUT: jobs.seconds({
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    help: 'Seconds without output after which a job is ended. 0: no limit.',
  }),
  JOB_NETWORK: jobs.string({
    default: 'host',
    choices: ['host', 'none'],
    help: 'Network of an isolated job. `host`: the network of the machine. `none`: only a private loopback interface.',
  }),
  JOB_SHOW_PATHS: jobs.list({
    default: [],
    help: 'Absolute paths that an isolated job can read, in addition to the system and its own folder. The suffix `:rw` makes a path writable.',
  }),
  JOB_PROCESSES: jobs.integer({
    default: 512,
    min: 32,
    help: 'Maximum number of processes and threads of an isolated job.',
  }),
  JOB_OPEN_FILES: jobs.integer({
    default: 8192,
    min: 256,
    help: 'Maximum number of open files of each process of an isolated job, up to the limit of the worker.',
  }),
  JOB_MEMORY_BYTES: jobs.bytes({
    default: 0,
    help: 'Maximum memory of all processes of a job, in bytes: at least 64 MB, measured twice a second. 0: no limit.',
  }),
  JOB_CPUS: jobs.integer({
    default: 0,
    max: 1024,
    help: 'Maximum number of processors of an isolated job. 0: all processors of its worker.',
  }),
  JOB_FILE_BYTES: jobs.bytes({
    default: GIGABYTE,
    min: MEGABYTE,
    help: 'Maximum size of a file that an isolated job writes, in bytes.',
  }),
  JOB_TMP_BYTES: jobs.bytes({
    default: 512 * MEGABYTE,
    min: MEGABYTE,
    help: 'Size of the `/tmp` of an isolated job, in bytes of memory.',
  }),
  JOB_DISK_BYTES: jobs.bytes({
    default: 5 * GIGABYTE,
    min: MEGABYTE,
    help: 'Maximum size of the folder of a job, and of a project, in bytes; measured every ten seconds.',
  }),
  JOB_EVENTS: jobs.integer({
    default: 1_000_000,
    min: 100,
    help: 'Maximum number of stored events of one run. A run with more events is ended with an explanation.',
  }),
  JOB_EVENT_BYTES: jobs.bytes({
    default: 4 * GIGABYTE,
    min: MEGABYTE,
    help: 'Maximum size of the output and data of the events of one run, in bytes. A larger run is ended with an explanation.',
  }),
  ANSIBLE_FACT_CACHE_TIMEOUT: jobs.seconds({
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    help: 'Seconds for which jobs receive the stored facts of a host. 0: no limit.',
  }),
  HOST_FACTS_BYTES: jobs.bytes({
    default: MEGABYTE,
    min: 1024,
    max: 16 * MEGABYTE,
    runtime: true,
    help: 'Maximum size of the facts of a host, in bytes. Larger facts are not stored.',
  }),
} as const;

/** Minimum memory with which Ansible starts. */
const MIN_MEMORY_BYTES = 64 * MEGABYTE;

/** Returns the errors of job settings that their declarations cannot express, one sentence each. */
export function jobSettingFaults(settings: {
  readonly JOB_SHOW_PATHS: readonly string[];
  readonly JOB_MEMORY_BYTES: number;
  readonly DATA_DIR: string;
}): string[] {
  const { JOB_MEMORY_BYTES: bytes, JOB_SHOW_PATHS: paths, DATA_DIR } = settings;
  const isTooLittle = bytes > 0 && bytes < MIN_MEMORY_BYTES;
  return [
    ...(isTooLittle ? [`JOB_MEMORY_BYTES must be 0 or at least ${MIN_MEMORY_BYTES}.`] : []),
    ...shownPathFaults(paths, resolve(DATA_DIR)),
  ];
}

/** Entry of JOB_SHOW_PATHS. */
export interface ShownPath {
  readonly path: string;
  readonly isWritable: boolean;
}

/** Paths that a run must not see, or of which the run has a separate copy. */
const NEVER_SHOWN = ['/', '/dev', '/etc', '/proc', '/root', '/run', '/runner', '/sys', '/var'];
const WRITABLE = ':rw';

/** Parses the entries of JOB_SHOW_PATHS, which {@link jobSettingFaults} has validated. */
export function shownPaths(entries: readonly string[]): ShownPath[] {
  return entries.map((entry) => {
    const isWritable = entry.endsWith(WRITABLE);
    return { path: normalize(isWritable ? entry.slice(0, -WRITABLE.length) : entry), isWritable };
  });
}

/** Returns the errors of the entries, one sentence each. */
function shownPathFaults(entries: readonly string[], dataDir: string): string[] {
  return shownPaths(entries).flatMap(({ path }) => {
    if (!isAbsolute(path)) return [`JOB_SHOW_PATHS: "${path}" is not an absolute path.`];
    const trimmed = path.replace(/\/$/, '') || '/';
    if (NEVER_SHOWN.includes(trimmed)) return [`JOB_SHOW_PATHS: "${path}" is never shown to jobs.`];
    if (`${trimmed}/`.startsWith(`${dataDir}/`)) {
      return [`JOB_SHOW_PATHS: "${path}" is part of DATA_DIR, which no job may see.`];
    }
    return [];
  });
}

/** Memory that is reserved for the system. */
const SYSTEM_MEMORY_BYTES = 2 * GIGABYTE;

/**
 * Returns the number of forks for which the processors of an instance suffice, and that for its memory
 * (docs/contract/runs.md#capacity).
 */
export function forkCapacities(
  settings: Readonly<
    Record<'INSTANCE_CAPACITY' | 'SYSTEM_TASK_FORKS_CPU' | 'SYSTEM_TASK_FORKS_MEM', number>
  >,
  { cpu, memory }: { cpu: number; memory: number },
): { cpu_capacity: number; mem_capacity: number } {
  const { INSTANCE_CAPACITY: configured } = settings;
  if (configured > 0) return { cpu_capacity: configured, mem_capacity: configured };
  const bytesPerFork = settings.SYSTEM_TASK_FORKS_MEM * MEGABYTE;
  return {
    cpu_capacity: cpu * settings.SYSTEM_TASK_FORKS_CPU,
    mem_capacity: Math.max(1, Math.floor((memory - SYSTEM_MEMORY_BYTES) / bytesPerFork)),
  };
}

/** Returns the name of the instance that this process belongs to. */
export const instanceName = ({ INSTANCE_NAME: name }: { readonly INSTANCE_NAME: string }): string =>
  name || hostname();
