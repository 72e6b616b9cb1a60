import { readdir, readFile } from 'node:fs/promises';

/** One line of the kernel's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** R, S, D, Z (dead, not yet collected by its parent), ... */
  readonly state: string;
  /** Clock ticks since boot: with the pid it names one process for good. */
  readonly startTime: string;
}

/** Reads of `/proc` at the same time; enough to hide latency, few enough for the open-file limit. */
const PARALLEL_READS = 32;

/** The kernel's id of this boot; empty where there is none (no Linux). */
export async function bootId(): Promise<string> {
  return (await readText('/proc/sys/kernel/random/boot_id')).trim();
}

/** The process, or null when it has ended (or the system has no `/proc`). */
export async function findProcess(pid: number): Promise<ProcessEntry | null> {
  const stat = await readText(`/proc/${pid}/stat`);
  // The command name stands in parentheses and may itself contain blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return null;
  return {
    pid,
    state: fields[0] ?? '',
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    startTime: fields[19] ?? '',
  };
}

/** All processes that still run; dead ones waiting for their parent are left out. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await inParallel(pids, findProcess);
  return entries.filter((entry) => entry !== null).filter((entry) => entry.state !== 'Z');
}

/** Adds to some processes what they have started, and what that has. */
export function addDescendants(entries: readonly ProcessEntry[], chosen: Set<number>): void {
  for (let size = -1; size !== chosen.size;) {
    size = chosen.size;
    for (const entry of entries) if (chosen.has(entry.parentPid)) chosen.add(entry.pid);
  }
}

/** The environment a process started with, one `NAME=value` each; empty when it may not be read. */
export async function readEnvironment(pid: number): Promise<string[]> {
  const text = await readText(`/proc/${pid}/environ`);
  return text.split('\0');
}

/** Runs `work` over all items, a bounded number at a time, results in order. */
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

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    return '';
  }
}
