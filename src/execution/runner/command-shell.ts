import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Command, Launch } from '../sandbox/command.js';
import { sandboxPid } from '../sandbox/sandbox-pid.js';
import { closePipesAfterExit, startProcess } from '../sandbox/start-process.js';
import { MarkedText } from './marked-text.js';
import { findProcess, signalProcess } from './process-table.js';
import { SandboxProcesses } from './run-processes.js';

/** Receives the output of a command. */
export interface ShellListener {
  readonly onStdout: (text: string) => void;
  readonly onStderr: (text: string) => void;
}

type Child = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

const hasPipes = (child: ChildProcess): child is Child =>
  child.stdin !== null && child.stdout !== null && child.stderr !== null;

/** Maximum output of one command, in characters; a command that exceeds the limit is stopped. */
export const MAX_PRINTED = 16 * 1024 * 1024;

/** Grace period in ms before the kill, so that commands can finish writing files. */
const KILL_GRACE_MS = 2_000;

/**
 * A shell that runs commands one after another. Starting a sandbox takes longer than most git commands, so
 * all commands of a session are sent through a pipe into one sandbox.
 */
export class CommandShell {
  /** Random text that marks the end of a command. Commands do not know the text. */
  private readonly mark = `\x1e${randomBytes(16).toString('hex')}`;
  private readonly sandbox: SandboxProcesses | null;
  private readonly killSignal: NodeJS.Signals;
  private readonly closed: Promise<void>;
  private isClosed = false;
  private isStopping = false;
  private hasExceededOutput = false;

  private constructor(
    private readonly child: Child,
    { depth, killSignal }: Pick<Launch, 'depth' | 'killSignal'>,
  ) {
    this.closed = new Promise((resolve) => {
      const end = (): void => {
        this.isClosed = true;
        resolve();
      };
      child.once('close', end).once('error', end);
    });
    closePipesAfterExit(child);
    // Writing to a shell that has ended fails; `run` reports the end.
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
    const first = sandboxPid(child).then((pid) => (pid === null ? null : findProcess(pid)));
    this.sandbox = depth === null ? null : new SandboxProcesses(child, first, depth, killSignal);
    this.killSignal = killSignal;
  }

  /** @param launch launch of `sh` without arguments */
  static start(launch: Launch): CommandShell {
    const { file, args, environment, cwd, depth } = launch;
    const child = startProcess(file, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', depth === null ? 'ignore' : 'pipe'],
    });
    if (!hasPipes(child)) throw new Error('The shell was started without pipes.');
    return new CommandShell(child, launch);
  }

  /** True if the shell was stopped because a command printed too much. */
  get exceededOutputLimit(): boolean {
    return this.hasExceededOutput;
  }

  /**
   * Runs a command. Its variables are added to the environment of the shell.
   *
   * @returns the exit code of the command; null if the shell exited
   */
  async run(command: Command, listener: ShellListener): Promise<number | null> {
    if (this.isClosed) return null;
    const { stdin, stdout, stderr } = this.child;
    let remaining = MAX_PRINTED;
    const limited = (onText: (text: string) => void) => (text: string) => {
      remaining -= text.length;
      if (remaining >= 0) onText(text);
      else this.overrun();
    };
    const ends = [
      new MarkedText(this.mark, stdout, limited(listener.onStdout)),
      new MarkedText(this.mark, stderr, limited(listener.onStderr)),
    ];
    stdin.write(`${scriptOf(command)}; ${this.endCommand()}\n`);
    const exitCodes = Promise.all(ends.map((end) => end.code));
    try {
      return (await Promise.race([exitCodes, this.closed.then(() => [null])]))[0] ?? null;
    } finally {
      for (const end of ends) end.release();
    }
  }

  /**
   * Ends the running command: sends a termination signal, and kills the command and the shell after a grace
   * period.
   */
  stop(): void {
    if (this.isClosed || this.isStopping) return;
    this.isStopping = true;
    if (this.sandbox) void this.sandbox.endBelowRunner(KILL_GRACE_MS);
    else this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal(this.killSignal), KILL_GRACE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  /** Ends the shell; resolves after all its processes have exited. */
  async close(): Promise<void> {
    this.signal(this.killSignal);
    await this.closed;
    await this.sandbox?.endLeftovers();
  }

  private overrun(): void {
    this.hasExceededOutput = true;
    this.stop();
  }

  private endCommand(): string {
    const printExitCode = `printf '\\036%s %s\\n' ${this.mark.slice(1)} "$code"`;
    return `code=$?; ${printExitCode}; ${printExitCode} >&2`;
  }

  /**
   * Signals the sandbox process; its exit ends all processes inside. Without a sandbox, signals the process
   * group.
   */
  private signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined && !this.isClosed) signalProcess(this.sandbox ? pid : -pid, name);
  }
}

function scriptOf({ file, args, environment, cwd }: Command): string {
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  const words = [...settings, file, ...args.map(quoted)];
  return `cd ${quoted(cwd)} && ${words.join(' ')} </dev/null`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
