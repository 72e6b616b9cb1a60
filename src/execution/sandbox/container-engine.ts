import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { memberOf, tableOf } from '../../common/records.js';
import { messageOf } from '../../common/errors/errors.js';
import type { AddressGuard } from '../../outbound/address-guard.js';
import { GuardedHttpProxy } from './guarded-http-proxy.js';
import { registryOf } from '../../execution-environments/image-reference.js';
import { createSessionFolder } from '../runner/git-session-folders.js';
import { MaskedLines } from '../runner/masked-lines.js';
import { createMasker } from '../runner/masker.js';
import { operatorProxy } from '../runner/operator-proxy.js';
import { settleAll } from '../../database/settle-all.js';
import { isAlive, signalProcess } from '../runner/process-table.js';
import { removeDirectory } from '../runner/workspace.js';
import { engineEnvironment, LABEL, ownerIn, type ContainerPlan } from './container.js';
import { closePipesAfterExit, startProcess } from './start-process.js';
import { withoutTrailing } from '../../common/fields/text.js';

const execute = promisify(execFile);

/** Timeout of local engine commands. */
const LIMIT_MS = 60_000;
/** Timeout of a pull. */
const PULL_LIMIT_MS = 15 * 60_000;
/**
 * Grace period in ms between SIGTERM and SIGKILL of other commands: an engine that waits for a lock ignores
 * SIGTERM.
 */
const KILL_GRACE_MS = 2000;
/** Grace period in ms between SIGTERM and SIGKILL of a pull, in which the engine removes its files. */
const PULL_GRACE_MS = 5000;

/**
 * Runs a command of an engine.
 *
 * @throws Error with the last line of the engine's error output
 */
async function exec(engine: string, args: readonly string[], timeout = LIMIT_MS): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const running = execute(engine, args, { env: engineEnvironment(), timeout, cwd: '/' });
    timer = setTimeout(() => running.child.kill('SIGKILL'), timeout + KILL_GRACE_MS);
    return (await running).stdout.trim();
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') {
      throw new Error(`${engine} is not installed`, { cause: error });
    }
    const output = String(memberOf(error, 'stderr') ?? '').trim();
    throw new Error(output.split('\n').at(-1) || messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the version line of a program, such as `podman version 4.3.1`.
 *
 * @throws Error
 */
export function programVersion(program: string, timeoutMs = LIMIT_MS): Promise<string> {
  return exec(program, ['--version'], timeoutMs);
}

/**
 * Returns the version of an engine's service.
 *
 * @throws Error
 */
export function serviceVersion(engine: string): Promise<string> {
  return exec(engine, ['version', '--format', '{{.Server.Version}}']);
}

/**
 * Pulls an image if it is missing.
 *
 * @throws Error
 */
export async function provideImage(engine: string, image: string): Promise<void> {
  const isPresent = await exec(engine, ['image', 'inspect', image]).then(
    () => true,
    () => false,
  );
  if (!isPresent) await exec(engine, ['pull', image], PULL_LIMIT_MS);
}

export interface LocalImage {
  /** Id for starting containers, because a tag can be moved meanwhile. */
  readonly id: string;
  /** Digest of the manifest, as in the registry; for Docker, the digest of the configuration. */
  readonly digest: string;
}

/** Returns a local image; null if it is missing. */
export async function localImage(
  { engine, isPodman }: Pick<ContainerPlan, 'engine' | 'isPodman'>,
  image: string,
): Promise<LocalImage | null> {
  const format = isPodman ? '{{.Id}} {{.Digest}}' : '{{.Id}} {{.Id}}';
  const found = await exec(engine, ['image', 'inspect', '--format', format, image]).catch(() => '');
  const [id = '', digest = ''] = found.split(' ');
  return id === '' ? null : { id, digest };
}

/** Removes an image unless a container uses it. */
export async function removeImage(
  { engine }: Pick<ContainerPlan, 'engine'>,
  image: string,
): Promise<void> {
  await exec(engine, ['rmi', image]).catch(() => undefined);
}

/** Account at a registry. */
export interface RegistryLogin {
  readonly host: string;
  readonly username: string;
  readonly password: string;
  readonly verifiesTls: boolean;
}

export interface PullRequest extends Pick<ContainerPlan, 'engine' | 'isPodman'> {
  readonly image: string;
  readonly login: RegistryLogin | null;
  readonly guard: AddressGuard;
  readonly signal: AbortSignal;
  /** Receives whole lines of masked output. */
  readonly onOutput: (text: string) => void;
}

/**
 * Pulls an image from a permitted address, with the login in a private file. An aborted pull leaves
 * no files.
 *
 * @throws OutboundError if the guard rejects the registry, Error with the rejected connection or with the
 *   last line of the output
 */
export async function pullImage(request: PullRequest): Promise<void> {
  const { image, guard, login } = request;
  const operator = operatorProxy();
  const registry = registryOf(image);
  if (registry !== null && !operator) await guard.resolve(registry);
  const folder = await createSessionFolder();
  let proxy: GuardedHttpProxy | null = null;
  try {
    proxy = operator ? null : await GuardedHttpProxy.open(guard);
    if (login) await writeLogin(folder, login);
    const url = proxy?.url;
    const network = url === undefined ? operator : tableOf(PROXIES, () => url);
    const noProxy = proxy ? { no_proxy: '', NO_PROXY: '' } : {};
    const environment = { ...engineEnvironment(), ...network, ...noProxy, TMPDIR: folder };
    await runPull(request, pullArguments(request, folder), environment);
  } catch (error) {
    const [refusal] = proxy?.refusals ?? [];
    throw refusal === undefined ? error : new Error(refusal, { cause: error });
  } finally {
    await proxy?.close();
    await removeDirectory(folder);
  }
}

const PROXIES = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'];

/** Writes the login in the format that both engines read. */
async function writeLogin(folder: string, { host, username, password }: RegistryLogin) {
  const registry = withoutTrailing(host.replace(/^https?:\/\//, ''), '/');
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const file = { auths: { [registry]: { auth } } };
  await writeFile(join(folder, 'config.json'), JSON.stringify(file), { mode: 0o600 });
}

function pullArguments({ image, isPodman, login }: PullRequest, folder: string): string[] {
  if (!login) return ['pull', image];
  if (!isPodman) return [`--config=${folder}`, 'pull', image];
  const tls = login.verifiesTls ? [] : ['--tls-verify=false'];
  return ['pull', `--authfile=${join(folder, 'config.json')}`, ...tls, image];
}

function runPull(
  { engine, login, signal, onOutput }: PullRequest,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  let lastLine = '';
  const lines = new MaskedLines(createMasker(login ? [login.password] : []), (text) => {
    onOutput(text);
    lastLine = text.trim().split('\n').at(-1) || lastLine;
  });
  return new Promise((resolve, reject) => {
    // The engine has its own process group, so that signals also reach its helpers.
    const child = startProcess(engine, args, {
      env,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const send = (name: NodeJS.Signals): void => {
      const { pid } = child;
      if (pid !== undefined) signalProcess(-pid, name);
    };
    const timers: NodeJS.Timeout[] = [];
    const stop = (): void => {
      send('SIGTERM');
      timers.push(setTimeout(() => send('SIGKILL'), PULL_GRACE_MS));
    };
    timers.push(setTimeout(stop, PULL_LIMIT_MS));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => lines.add(text));
    }
    closePipesAfterExit(child);
    child.once('error', reject).once('close', (code) => {
      lines.end();
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (code === 0) resolve();
      else reject(new Error(lastLine || `${engine} ended with code ${code}`));
    });
  });
}

/**
 * Stops and removes the containers of dead workers of this installation. A failure does not prevent the
 * removal of the other containers.
 *
 * @returns number of removed containers
 */
export async function sweepContainers({
  engine,
  owner,
}: Pick<ContainerPlan, 'engine' | 'owner'>): Promise<number> {
  const filter = `label=${LABEL}=${owner.installation}`;
  const names = await exec(engine, ['ps', '--all', '--filter', filter, '--format', '{{.Names}}']);
  const dead: string[] = [];
  for (const name of names.split('\n')) {
    const worker = ownerIn(name);
    if (worker && !(await isAlive(worker))) dead.push(name);
  }
  await settleAll(dead.map((name) => exec(engine, ['rm', '--force', name])));
  return dead.length;
}
