import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { memberOf } from '../../common/records.js';
import { messageOf } from '../../common/errors/message-of.js';
import { findProcess } from '../runner/process-table.js';
import { engineEnvironment, LABEL, ownerIn, type ContainerPlan } from './container.js';

const execute = promisify(execFile);

/** Timeout of local engine commands. */
const LIMIT_MS = 60_000;
/** Timeout of a pull. */
const PULL_LIMIT_MS = 15 * 60_000;

/**
 * Runs a command of an engine.
 *
 * @throws Error with the last line of the engine's error output
 */
async function ask(engine: string, args: readonly string[], timeout = LIMIT_MS): Promise<string> {
  try {
    const { stdout } = await execute(engine, args, { env: engineEnvironment(), timeout, cwd: '/' });
    return stdout.trim();
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') {
      throw new Error(`${engine} is not installed`, { cause: error });
    }
    const said = String(memberOf(error, 'stderr') ?? '').trim();
    throw new Error(said.split('\n').at(-1) || messageOf(error), { cause: error });
  }
}

/**
 * Returns the version line of an engine, such as `podman version 4.3.1`.
 *
 * @throws Error
 */
export function engineVersion(engine: string): Promise<string> {
  return ask(engine, ['--version']);
}

/**
 * Pulls an image if it is missing.
 *
 * @throws Error
 */
export async function provideImage(engine: string, image: string): Promise<void> {
  const isThere = await ask(engine, ['image', 'inspect', image]).then(
    () => true,
    () => false,
  );
  if (!isThere) await ask(engine, ['pull', image], PULL_LIMIT_MS);
}

/**
 * Stops and removes the containers of dead workers of this installation.
 *
 * @returns number of removed containers
 */
export async function sweepContainers({ engine, owner }: ContainerPlan): Promise<number> {
  const mine = `label=${LABEL}=${owner.installation}`;
  const names = await ask(engine, ['ps', '--all', '--filter', mine, '--format', '{{.Names}}']);
  let removed = 0;
  for (const name of names.split('\n')) {
    const worker = ownerIn(name);
    if (!worker || (await isAlive(worker))) continue;
    await ask(engine, ['rm', '--force', name]);
    removed += 1;
  }
  return removed;
}

async function isAlive({ pid, startTime }: { pid: number; startTime: string }): Promise<boolean> {
  const found = await findProcess(pid);
  return found?.startTime === startTime && found.state !== 'Z';
}
