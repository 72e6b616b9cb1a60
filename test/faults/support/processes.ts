/**
 * Processes of the product as an operator runs them: from the build in `dist/`, each with its own signals.
 * `endAll` ends all processes that a test started here.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { RUN_MARK } from '../../../scripts/services/throwaway.mjs';
import { PACKAGE_FOLDER } from '../../../src/config/version.js';

/** `CONTROLLER_DIST` selects another build than the one of this folder. */
const DIST = process.env.CONTROLLER_DIST ?? join(PACKAGE_FOLDER, 'dist');

export interface Program {
  child: ChildProcess;
  /** Returns all output so far. */
  output(): string;
  /** Resolves to the signal or the exit code when the process has ended. */
  ended: Promise<NodeJS.Signals | number>;
}

export type Environment = Record<string, string>;

/** UID of the account of a process. */
export type Uid = number;

export class Processes {
  private readonly programs: Program[] = [];

  /** @param uid of API and workers; by default that of this process */
  constructor(private readonly uid?: Uid) {}

  worker(environment: Environment): Program {
    return this.start(process.execPath, [join(DIST, 'worker.js')], environment);
  }

  api(environment: Environment): Program {
    return this.start(process.execPath, [join(DIST, 'main.js')], environment);
  }

  redis(port: number, folder: string): Program {
    const persistence = ['--save', '', '--appendonly', 'no'];
    // Redis would write its title over its environment, which contains the mark of the run.
    const args = ['--port', String(port), '--dir', folder, '--set-proc-title', 'no'];
    return this.start('redis-server', [...args, ...persistence], { PATH: process.env.PATH ?? '' });
  }

  async endAll(): Promise<void> {
    for (const { child } of this.programs) child.kill('SIGKILL');
    await Promise.all(this.programs.map(({ ended }) => ended));
  }

  private start(command: string, args: string[], environment: Environment): Program {
    const account = this.uid === undefined ? {} : { uid: this.uid, gid: this.uid };
    const child = spawn(command, args, {
      ...account,
      // An interrupted run ends all processes with its mark.
      env: { ...environment, [RUN_MARK]: process.env[RUN_MARK] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    const ended = once(child, 'close').then(
      ([code, signal]) => (signal ?? code ?? 0) as NodeJS.Signals | number,
    );
    const program = { child, output: () => output, ended };
    this.programs.push(program);
    return program;
  }
}

/** Returns a port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the ids of the processes that a process has started. */
export async function childrenOf(pid = 0): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Returns those of the processes that have not ended. */
export async function alive(ids: readonly number[]): Promise<number[]> {
  const states = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => null)),
  );
  return ids.filter((_, index) => states[index] !== null);
}

/** Returns the ids of living processes whose command line or environment contains a text. */
export async function processesWith(text: string): Promise<number[]> {
  return living((pid) => `${commandOf(pid)}\0${textOf(pid, 'environ')}`.includes(text));
}

/** Returns the ids of living processes whose command line contains a text. */
export async function commandsWith(text: string): Promise<number[]> {
  return living((pid) => commandOf(pid).includes(text));
}

/** Returns the arguments of a process, each followed by a NUL; empty if the process has ended. */
export const commandOf = (pid: number): string => textOf(pid, 'cmdline');

async function living(isWanted: (pid: number) => boolean): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => pid !== process.pid && isWanted(pid));
}

/**
 * Synchronous, because it takes a fifth of the processor time of a promise for each of some hundred files.
 */
function textOf(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
