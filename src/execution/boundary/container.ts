import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { innerEnvironment } from './bubblewrap.js';
import type { Bind, Command, Enclosure, Launch } from './command.js';
import { confinement, limitArguments, type Limits, mounts } from './container-arguments.js';
import { FIRST, GUARD, RAN_OUT } from './container-guard.js';
import type { Account } from './job-account.js';
import type { Cover } from './system-view.js';

/** How containers are used on this machine. */
export interface ContainerPlan {
  readonly kind: 'container';
  readonly isRoot: boolean;
  /** Whom the command runs as: by the same number outside and inside, so that the worker may end it. */
  readonly account: Account;
  /** Program of the engine. */
  readonly engine: string;
  readonly isPodman: boolean;
  readonly image: string;
  /** What the operator shows. */
  readonly shown: readonly Bind[];
  /** What of that is covered. */
  readonly covered: readonly Cover[];
  /** Files the command may have open; no more than this process may itself. */
  readonly openFiles: number;
  /** Processes this process may have itself; null: any number. An engine must not ask for more. */
  readonly mostProcesses: number | null;
  /** What `filterProfile` gives; null: the engine's own. */
  readonly filter: Buffer | null;
  readonly owner: ContainerOwner;
}

/** Whose containers are whose. */
export interface ContainerOwner {
  /** Tells installations on one machine apart. */
  readonly installation: string;
  /** This worker: its process id and when it was started. */
  readonly worker: string;
}

/** By it the containers of an installation are found again. */
export const LABEL = 'automation-controller.installation';
/** Where the environment of the command stands inside. */
const INNER_ENVIRONMENT = '/run/environment';
/** What an engine is given of the environment of this process. */
const FOR_ENGINES =
  /^(PATH|HOME|USER|LOGNAME|LANG|TMPDIR|XDG_[A-Z_]+|DBUS_SESSION_BUS_ADDRESS|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+|REGISTRY_AUTH_FILE|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;
/** Variables by which the processes of a run are found again. */
const MARKS = /^AUTOMATION_CONTROLLER_/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A command inside a container: an image, read-only, instead of the system; no capability, no other
 * account than an unprivileged one, and limits.
 */
export async function contained(
  command: Command,
  enclosure: Enclosure,
  plan: ContainerPlan,
  limits: Limits,
): Promise<Launch> {
  const { engine, isPodman, image, owner } = plan;
  const name = `${namePrefix(owner)}${randomBytes(6).toString('hex')}`;
  const marks = Object.entries(command.environment).filter(([variable]) => MARKS.test(variable));
  const environment = { from: environmentFile(enclosure), to: INNER_ENVIRONMENT };
  const binds = [...enclosure.binds, environment];
  return {
    file: 'sh',
    args: [
      ...['-c', GUARD, 'guard', engine, name],
      // What it warns of would stand in the output of the command.
      ...(isPodman ? ['--log-level=error'] : []),
      ...['run', '--rm', '--interactive', '--pull=never', `--name=${name}`],
      ...[`--label=${LABEL}=${owner.installation}`, `--hostname=${enclosure.name}`],
      ...confinement(enclosure, plan),
      ...limitArguments(enclosure, plan, limits),
      ...(await mounts({ ...enclosure, binds }, plan, limits)),
      ...marks.map(([variable, value]) => `--env=${variable}=${value}`),
      ...[`--workdir=${command.cwd}`, '--entrypoint=sh', image, '-c', FIRST, INNER_ENVIRONMENT],
      ...[command.file, ...command.args],
    ],
    environment: { ...engineEnvironment(), ...Object.fromEntries(marks) },
    cwd: '/',
    depth: 0,
    endsBy: 'SIGTERM',
    ranOutCode: RAN_OUT,
  };
}

/** Begins the names of the containers of a worker. */
const namePrefix = ({ installation, worker }: ContainerOwner): string =>
  `automation-${installation}-${worker}-`;

/** Process id and start time of the worker that a container belongs to, by its name. */
export function ownerIn(name: string): { pid: number; startTime: string } | null {
  const [, pid, startTime] = /^automation-[0-9a-f]+-(\d+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
  return startTime === undefined ? null : { pid: Number(pid), startTime };
}

/** What an engine is started with: nothing that a command is given may steer it. */
export function engineEnvironment(): Record<string, string> {
  const named = Object.entries(process.env).filter(
    (entry): entry is [string, string] => FOR_ENGINES.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(named);
}

/** Where the environment of a command is written. */
export const environmentFile = ({ root }: Enclosure): string => join(root, 'environment');

/** The environment of a command as lines of a shell; programs are looked for where the image says. */
export function environmentScript(command: Command, enclosure: Enclosure): string {
  const lines = Object.entries(innerEnvironment(command, enclosure))
    .filter(([name]) => VARIABLE.test(name) && name !== 'PATH')
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  return lines.join('');
}
