import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';

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
