import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { innerEnvironment } from './bubblewrap.js';
import type { Bind, Command, SandboxSpec, Launch } from './command.js';
import { confinement, limitArguments, type Limits, mounts } from './container-arguments.js';
import { FIRST_PROCESS, GUARD, OUT_OF_MEMORY_CODE } from './container-guard.js';
import type { JobAccount } from './job-account.js';
import type { Cover } from './system-view.js';

/** The configuration of containers on this machine. */
export interface ContainerPlan {
  readonly kind: 'container';
  readonly isRoot: boolean;
  /**
   * Account of the command. Its ids are the same outside and inside, so that the worker is allowed
   * to signal the command.
   */
  readonly account: JobAccount;
  /** Path or name of the engine's program. */
  readonly engine: string;
  readonly isPodman: boolean;
  readonly image: string;
  /** Paths that the operator makes visible to runs. */
  readonly shown: readonly Bind[];
  /** Hidden paths below the visible paths. */
  readonly covered: readonly Cover[];
  /** Maximum number of open files of the command; never above the limit of this process. */
  readonly openFiles: number;
  /**
   * Process limit of this process, which an engine must not exceed; null: unlimited.
   */
  readonly maxProcesses: number | null;
  /** Result of `filterProfile`; null: the default filter of the engine. */
  readonly filter: Buffer | null;
  readonly owner: ContainerOwner;
}

/** Owner of a container, for finding the containers of dead workers. */
export interface ContainerOwner {
  /** Identifier that distinguishes installations on one machine. */
  readonly installation: string;
  /** Process id and start time of this worker. */
  readonly worker: string;
}

/** Container label with the installation. */
export const LABEL = 'automation-controller.installation';
/** Path of the command's environment file inside the container. */
const INNER_ENVIRONMENT = '/run/environment';
/** Variables of this process that an engine receives. */
const ENGINE_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|LANG|TMPDIR|XDG_[A-Z_]+|DBUS_SESSION_BUS_ADDRESS|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+|REGISTRY_AUTH_FILE|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;
/** Variables that mark the processes of a run. */
const MARKS = /^AUTOMATION_CONTROLLER_/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns how to start a command in a container: with a read-only image instead of the machine's
 * system, no capabilities, an unprivileged account, and limits.
 */
export async function containerLaunch(
  command: Command,
  spec: SandboxSpec,
  plan: ContainerPlan,
  limits: Limits,
): Promise<Launch> {
  const { engine, isPodman, image, owner } = plan;
  const name = `${namePrefix(owner)}${randomBytes(6).toString('hex')}`;
  const marks = Object.entries(command.environment).filter(([variable]) => MARKS.test(variable));
  const environment = { from: environmentFile(spec), to: INNER_ENVIRONMENT };
  const binds = [...spec.binds, environment];
  return {
    file: 'sh',
    args: [
      '-c',
      GUARD,
      'guard',
      engine,
      name,
      // Otherwise warnings of Podman would be part of the command's output.
      ...(isPodman ? ['--log-level=error'] : []),
      'run',
      '--rm',
      '--interactive',
      '--pull=never',
      `--name=${name}`,
      `--label=${LABEL}=${owner.installation}`,
      `--hostname=${spec.name}`,
      ...confinement(spec, plan),
      ...limitArguments(spec, plan, limits),
      ...(await mounts({ ...spec, binds }, plan, limits)),
      ...marks.map(([variable, value]) => `--env=${variable}=${value}`),
      `--workdir=${command.cwd}`,
      '--entrypoint=sh',
      image,
      '-c',
      FIRST_PROCESS,
      INNER_ENVIRONMENT,
      command.file,
      ...command.args,
    ],
    environment: { ...engineEnvironment(), ...Object.fromEntries(marks) },
    cwd: '/',
    depth: 0,
    killSignal: 'SIGTERM',
    outOfMemoryCode: OUT_OF_MEMORY_CODE,
  };
}

/** Returns the common prefix of the names of a worker's containers. */
const namePrefix = ({ installation, worker }: ContainerOwner): string =>
  `automation-${installation}-${worker}-`;

/**
 * Returns the process id and start time of the worker that a container belongs to, parsed from its
 * name; null for another name.
 */
export function ownerIn(name: string): { pid: number; startTime: string } | null {
  const [, pid, startTime] = /^automation-[0-9a-f]+-(\d+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
  return startTime === undefined ? null : { pid: Number(pid), startTime };
}

/**
 * Returns the environment of an engine. It contains no variable of a command, which could change
 * the engine's behavior.
 */
export function engineEnvironment(): Record<string, string> {
  const named = Object.entries(process.env).filter(
    (entry): entry is [string, string] => ENGINE_VARIABLES.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(named);
}

/** Returns the path of the command's environment file. */
export const environmentFile = ({ root }: SandboxSpec): string => join(root, 'environment');

/**
 * Returns the environment of a command as shell lines. Omits `PATH`, which the image defines.
 */
export function environmentScript(command: Command, spec: SandboxSpec): string {
  const lines = Object.entries(innerEnvironment(command, spec))
    .filter(([name]) => VARIABLE.test(name) && name !== 'PATH')
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  return lines.join('');
}
