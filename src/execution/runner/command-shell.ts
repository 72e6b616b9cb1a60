import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';

import type { Launch } from '../boundary/command.js';
import { sandboxPid } from '../boundary/sandbox-pid.js';
import { MarkedText } from './marked-text.js';
import { findProcess } from './process-table.js';
import { SandboxProcesses } from './run-processes.js';

/** A command for the shell. */
export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that are added to the environment of the shell. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute working directory, as the shell sees it. */
  readonly cwd: string;
}

/** Receives the output of a command. */
export interface ShellListener {
  readonly onStdout: (text: string) => void;
  readonly onStderr: (text: string) => void;
}

type Child = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

const hasPipes = (child: ChildProcess): child is Child =>
  child.stdin !== null && child.stdout !== null && child.stderr !== null;

/** Maximum output of one command, in characters; a command that prints more is stopped. */
export const MAX_PRINTED = 16 * 1024 * 1024;

/**
 * Time between the signal to end a session and the kill, in ms, in which the session can finish its
 * files.
 */
const KILL_GRACE_MS = 2_000;

/**
 * A shell that runs commands one after the other. Starting a sandbox takes longer than most git
 * commands, so a whole session shares one sandbox and sends its commands through a pipe.
 */
export class CommandShell {
  /** Random text that marks the end of a command: only the shell itself can print it. */
  private readonly mark = `\x1e${randomBytes(16).toString('hex')}`;
  private readonly sandbox: SandboxProcesses | null;
  private readonly endsBy: NodeJS.Signals;
  private readonly closed: Promise<void>;
  private isClosed = false;
  private isStopping = false;
  private hasOverrun = false;

  private constructor(
    private readonly child: Child,
    { depth, endsBy }: Pick<Launch, 'depth' | 'endsBy'>,
  ) {
    this.closed = new Promise((resolve) => {
      const end = (): void => {
        this.isClosed = true;
        resolve();
      };
      child.once('close', end).once('error', end);
    });
    // Writing to a shell that has ended fails; `run` reports the end.
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
    const first = sandboxPid(child).then((pid) => (pid === null ? null : findProcess(pid)));
    this.sandbox = depth === null ? null : new SandboxProcesses(child, first, depth, endsBy);
    this.endsBy = endsBy;
  }

  /** @param launch launch of `sh` without arguments */
  static start(launch: Launch): CommandShell {
    const { file, args, environment, cwd, depth } = launch;
    const child = spawn(file, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', depth === null ? 'ignore' : 'pipe'],
    });
    if (!hasPipes(child)) throw new Error('The shell was started without pipes.');
    return new CommandShell(child, launch);
  }

  /** True if the shell was stopped because a command printed too much. */
  get printedTooMuch(): boolean {
    return this.hasOverrun;
  }

  /**
   * Runs a command.
   *
   * @returns the exit code of the command; null if the shell ended with it
   */
  async run(command: ShellCommand, listener: ShellListener): Promise<number | null> {
    if (this.isClosed) return null;
    const { stdin, stdout, stderr } = this.child;
    let left = MAX_PRINTED;
    const within = (take: (text: string) => void) => (text: string) => {
      left -= text.length;
      if (left >= 0) take(text);
      else this.overrun();
    };
    const ends = [
      new MarkedText(this.mark, stdout, within(listener.onStdout)),
      new MarkedText(this.mark, stderr, within(listener.onStderr)),
    ];
    stdin.write(`${scriptOf(command)}; ${this.endCommand()}\n`);
    const told = Promise.all(ends.map((end) => end.code));
    try {
      return (await Promise.race([told, this.closed.then(() => [null])]))[0] ?? null;
    } finally {
      for (const end of ends) end.release();
    }
  }

  /**
   * Ends the running command: signals it first, and kills it together with the shell after a grace
   * period.
   */
  stop(): void {
    if (this.isClosed || this.isStopping) return;
    this.isStopping = true;
    if (this.sandbox) void this.sandbox.endBelowRunner(KILL_GRACE_MS);
    else this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal(this.endsBy), KILL_GRACE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  /** Ends the shell; resolves when none of its processes is left. */
  async close(): Promise<void> {
    this.signal(this.endsBy);
    await this.closed;
    await this.sandbox?.endLeftovers();
  }

  private overrun(): void {
    this.hasOverrun = true;
    this.stop();
  }

  private endCommand(): string {
    const tell = `printf '\\036%s %s\\n' ${this.mark.slice(1)} "$code"`;
    return `code=$?; ${tell}; ${tell} >&2`;
  }

  /**
   * Sends a signal to the process of the sandbox, whose end ends everything inside; without a
   * sandbox, to the process group.
   */
  private signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined || this.isClosed) return;
    try {
      process.kill(this.sandbox ? pid : -pid, name);
    } catch {
      // The process has already exited.
    }
  }
}

function scriptOf({ file, args, environment, cwd }: ShellCommand): string {
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  const words = [...settings, file, ...args.map(quoted)];
  return `cd ${quoted(cwd)} && ${words.join(' ')} </dev/null`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
