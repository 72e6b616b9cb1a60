import { hostname } from 'node:os';
import { isAbsolute, normalize, resolve } from 'node:path';
import { MEGABYTE } from './http-settings.js';
import {
  boolean,
  bytes,
  integer,
  listSetting,
  seconds,
  string,
  variablesSetting,
} from './setting.js';

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
  AD_HOC_COMMANDS: listSetting({
    category: 'jobs',
    default: AD_HOC_MODULES,
    runtime: true,
    help: 'Modules that ad hoc commands may run; without any there are no such commands.',
  }),
  JOB_CONCURRENCY: integer({
    category: 'jobs',
    default: 4,
    min: 1,
    max: 1000,
    help: 'Jobs and project updates one worker runs at once.',
  }),
  INSTANCE_NAME: string({
    category: 'jobs',
    default: '',
    max: 250,
    help: 'Name of the instance that the workers of this machine belong to; empty: the host name.',
  }),
  INSTANCE_CAPACITY: integer({
    category: 'jobs',
    default: 0,
    max: 1_000_000,
    help: 'Forks that the instance of this worker has room for; 0: as its processors and its memory allow.',
  }),
  SYSTEM_TASK_FORKS_CPU: integer({
    category: 'jobs',
    default: 4,
    min: 1,
    max: 1000,
    help: 'Forks for which one processor of an instance is enough.',
  }),
  SYSTEM_TASK_FORKS_MEM: integer({
    category: 'jobs',
    default: 100,
    min: 1,
    max: 100_000,
    help: 'Memory that one fork takes on an instance, in megabytes; 2 GB are left to the system.',
  }),
  JOB_ISOLATION: string({
    category: 'jobs',
    default: 'auto',
    choices: ['auto', 'bubblewrap', 'container', 'none'],
    help: 'Isolation of runs from this installation. `auto`: bubblewrap where it works, else containers where an image is named; where neither works, runs are refused when the service is root or serves more than one organization. `none`: nothing does.',
  }),
  JOB_CONTAINER_ENGINE: string({
    category: 'jobs',
    default: 'podman',
    help: 'Program of the engine that isolates runs in containers: Podman or Docker, on the machine of the worker.',
  }),
  JOB_CONTAINER_IMAGE: string({
    category: 'jobs',
    default: '',
    help: 'Image of these containers, with ansible-runner, ansible-core, git and ssh. A worker pulls it at its start where it is not there.',
  }),
  DEFAULT_EXECUTION_ENVIRONMENT: integer({
    category: 'system',
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    refersTo: 'execution_environment',
    help: 'Id of the execution environment of runs for which nothing else names one; 0: the programs of the worker.',
  }),
  AWX_TASK_ENV: variablesSetting({
    category: 'jobs',
    default: {},
    runtime: true,
    help: 'Environment variables of every job, ad hoc command and inventory update; those of credentials take precedence.',
  }),
  GALAXY_TASK_ENV: variablesSetting({
    category: 'jobs',
    default: {},
    runtime: true,
    help: 'Environment variables of ansible-galaxy, which installs the roles and collections of projects.',
  }),
  GALAXY_IGNORE_CERTS: boolean({
    category: 'jobs',
    default: false,
    runtime: true,
    help: 'Ignore invalid certificates of Galaxy servers.',
  }),
  DEFAULT_JOB_IDLE_TIMEOUT: seconds({
    category: 'jobs',
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    help: 'Seconds without output after which a job is ended; 0 is no limit.',
  }),
  JOB_NETWORK: string({
    category: 'jobs',
    default: 'host',
    choices: ['host', 'none'],
    help: "Network of an isolated job: the machine's, or none but a loopback of its own.",
  }),
  JOB_SHOW_PATHS: listSetting({
    category: 'jobs',
    default: [],
    help: 'Absolute paths an isolated job sees besides the system and its own folder: read-only, writable with `:rw` behind.',
  }),
  JOB_PROCESSES: integer({
    category: 'jobs',
    default: 512,
    min: 32,
    help: 'Processes and threads an isolated job may have at once.',
  }),
  JOB_OPEN_FILES: integer({
    category: 'jobs',
    default: 8192,
    min: 256,
    help: 'Files each process of an isolated job may have open; no more than the worker may itself.',
  }),
  JOB_MEMORY_BYTES: bytes({
    category: 'jobs',
    default: 0,
    help: 'Memory the processes of a job may take together, in bytes, at least 64 MB; 0 is no limit. Looked at twice a second.',
  }),
  JOB_CPUS: integer({
    category: 'jobs',
    default: 0,
    max: 1024,
    help: 'Processors an isolated job may use at once; 0 is all that its worker may.',
  }),
  JOB_FILE_BYTES: bytes({
    category: 'jobs',
    default: GIGABYTE,
    min: MEGABYTE,
    help: 'Largest file an isolated job may write, in bytes.',
  }),
  JOB_TMP_BYTES: bytes({
    category: 'jobs',
    default: 512 * MEGABYTE,
    min: MEGABYTE,
    help: 'Size of the `/tmp` of an isolated job, in bytes of memory.',
  }),
  JOB_DISK_BYTES: bytes({
    category: 'jobs',
    default: 5 * GIGABYTE,
    min: MEGABYTE,
    help: 'Maximum size of the folder of a job, and of a project, in bytes; measured every ten seconds.',
  }),
  JOB_EVENTS: integer({
    category: 'jobs',
    default: 1_000_000,
    min: 100,
    help: 'Events that are stored of one run. One that makes more is ended, and says so.',
  }),
  JOB_EVENT_BYTES: bytes({
    category: 'jobs',
    default: 4 * GIGABYTE,
    min: MEGABYTE,
    help: 'Maximum size of the output and data of the events of one run, in bytes. A larger run is ended with an explanation.',
  }),
  ANSIBLE_FACT_CACHE_TIMEOUT: seconds({
    category: 'jobs',
    default: 0,
    max: MAX_INTEGER,
    runtime: true,
    help: 'Seconds for which stored facts of a host are handed to jobs; 0 is for ever.',
  }),
  HOST_FACTS_BYTES: bytes({
    category: 'jobs',
    default: MEGABYTE,
    min: 1024,
    max: 16 * MEGABYTE,
    runtime: true,
    help: 'Facts of a host that are larger are not stored, in bytes.',
  }),
} as const;

/** Minimum memory with which Ansible starts. */
const LEAST_MEMORY_BYTES = 64 * MEGABYTE;

/** Returns the errors of job settings that their declarations cannot express, one sentence each. */
export function jobSettingFaults(settings: {
  readonly JOB_SHOW_PATHS: readonly string[];
  readonly JOB_MEMORY_BYTES: number;
  readonly DATA_DIR: string;
}): string[] {
  const { JOB_MEMORY_BYTES: bytes, JOB_SHOW_PATHS: paths, DATA_DIR } = settings;
  const isTooLittle = bytes > 0 && bytes < LEAST_MEMORY_BYTES;
  return [
    ...(isTooLittle ? [`JOB_MEMORY_BYTES must be 0 or at least ${LEAST_MEMORY_BYTES}.`] : []),
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
    const plain = path.replace(/\/+$/, '') || '/';
    if (NEVER_SHOWN.includes(plain)) return [`JOB_SHOW_PATHS: "${path}" is never shown to jobs.`];
    if (`${plain}/`.startsWith(`${dataDir}/`)) {
      return [`JOB_SHOW_PATHS: "${path}" is part of DATA_DIR, which no job may see.`];
    }
    return [];
  });
}

/** Memory that is left to the system. */
const SYSTEM_MEMORY_BYTES = 2 * GIGABYTE;

/**
 * Returns the forks that the processors and the memory of an instance are enough for
 * (docs/contract/runs.md#capacity).
 */
export function forkCapacities(
  settings: Readonly<
    Record<'INSTANCE_CAPACITY' | 'SYSTEM_TASK_FORKS_CPU' | 'SYSTEM_TASK_FORKS_MEM', number>
  >,
  { cpu, memory }: { cpu: number; memory: number },
): { cpu_capacity: number; mem_capacity: number } {
  const { INSTANCE_CAPACITY: fixed } = settings;
  if (fixed > 0) return { cpu_capacity: fixed, mem_capacity: fixed };
  const fork = settings.SYSTEM_TASK_FORKS_MEM * MEGABYTE;
  return {
    cpu_capacity: cpu * settings.SYSTEM_TASK_FORKS_CPU,
    mem_capacity: Math.max(1, Math.floor((memory - SYSTEM_MEMORY_BYTES) / fork)),
  };
}

/** Returns the name of the instance that this process belongs to. */
export const instanceName = ({ INSTANCE_NAME: name }: { readonly INSTANCE_NAME: string }): string =>
  name || hostname();
