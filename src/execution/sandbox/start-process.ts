import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';

/** Time in ms in which the output of a process that has exited is read. */
const PIPE_GRACE_MS = 1_000;

/**
 * Starts a process.
 *
 * @throws Error if no file descriptor is free. Node then creates no pipes, and would end this process if nothing
 *   listened to the error that follows.
 */
export function startProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = spawn(file, args, options);
  if (Array.isArray(child.stdio)) return child;
  child.once('error', () => undefined);
  throw new Error(`${file} could not be started: no file descriptor is free.`);
}

/**
 * Closes the pipes of a process after its exit. A program that has left the process group can keep them open,
 * and the event `close` would wait for that program.
 */
export function closePipesAfterExit(child: ChildProcess): void {
  child.once('exit', () => {
    const close = (): void => {
      for (const pipe of child.stdio) pipe?.destroy();
    };
    // The pipes are read once more before they are closed, even if this process was busy meanwhile.
    const timer = setTimeout(() => setImmediate(close), PIPE_GRACE_MS);
    child.once('close', () => clearTimeout(timer));
  });
}
