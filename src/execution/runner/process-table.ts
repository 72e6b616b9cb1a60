import { readdir, readFile } from 'node:fs/promises';
import { resultOr } from '../../common/errors/errors.js';

/** One entry of the kernel's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** State: R (running), S (sleeping), Z (zombie), ... */
  readonly state: string;
  /**
   * Start time in clock ticks since boot. Process id and start time together identify a process
   * uniquely.
   */
  readonly startTime: string;
}

/**
 * Maximum number of parallel reads of `/proc`: enough to hide latency, few enough for the open-file
 * limit.
 */
const PARALLEL_READS = 32;

/** Returns the kernel's id of this boot; empty on other systems than Linux. */
export async function bootId(): Promise<string> {
  return (await readText('/proc/sys/kernel/random/boot_id')).trim();
}

/** Returns the process; null if it has ended (or the system has no `/proc`). */
export async function findProcess(pid: number): Promise<ProcessEntry | null> {
  const stat = await readText(`/proc/${pid}/stat`);
  // The command name is in parentheses and can itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return null;
  return {
    pid,
    state: fields[0] ?? '',
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    startTime: fields[19] ?? '',
  };
}

/** Signals a process, or by a negative id its group; returns false if it has exited. */
export const signalProcess = (pid: number, signal: NodeJS.Signals): boolean =>
  resultOr(() => process.kill(pid, signal), false);

/** Returns true if a process with this id and start time is running. */
export async function isAlive({
  pid,
  startTime,
}: Pick<ProcessEntry, 'pid' | 'startTime'>): Promise<boolean> {
  const found = await findProcess(pid);
  return found?.startTime === startTime && found.state !== 'Z';
}

/** Returns all processes except zombies. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await inParallel(pids, findProcess);
  return entries.filter((entry) => entry !== null).filter((entry) => entry.state !== 'Z');
}

/** Adds the descendants of the chosen processes to `chosen`. */
export function addDescendants(entries: readonly ProcessEntry[], chosen: Set<number>): void {
  for (let size = -1; size !== chosen.size;) {
    size = chosen.size;
    for (const entry of entries) if (chosen.has(entry.parentPid)) chosen.add(entry.pid);
  }
}

/**
 * Returns the initial environment of a process as `NAME=value` texts; only an empty text without
 * permission to read the environment.
 */
export async function readProcessEnvironment(pid: number): Promise<string[]> {
  const text = await readText(`/proc/${pid}/environ`);
  return text.split('\0');
}

/** Runs `work` for all items, a limited number in parallel, and returns the results in order. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += PARALLEL_READS) {
    results.push(...(await Promise.all(items.slice(start, start + PARALLEL_READS).map(work))));
  }
  return results;
}

const readText = (path: string): Promise<string> => readFile(path, 'latin1').catch(() => '');
