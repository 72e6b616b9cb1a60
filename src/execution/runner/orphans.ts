import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addDescendants,
  bootId,
  findProcess,
  inParallel,
  listProcesses,
  type ProcessEntry,
  readProcessEnvironment,
  signalProcess,
} from './process-table.js';
import { readRunMark, type RunMark } from './run-mark.js';
import { baseKey, MARK_VARIABLE, parseWorkspaceName } from './workspace.js';

/** A run whose folder was found below the base folder; its processes can be alive or dead. */
export interface KnownRun {
  readonly runId: number;
  readonly attempt: number;
  readonly dir: string;
  /** Content of `run.json`; null if the run never started a process, or the file is unreadable. */
  readonly mark: RunMark | null;
}

const POLL_MS = 50;
const DEFAULT_GRACE_MS = 3_000;
/**
 * Time to wait after SIGKILL, in ms. Only processes in an uninterruptible wait remain; they end after that
 * wait.
 */
export const KILL_WAIT_MS = 5_000;
/**
 * Number of consecutive scans that must find no process. One scan is not enough: a process that starts during
 * the scan is not listed, and a program that is being loaded has no environment yet.
 */
const EMPTY_SCANS = 3;

/** Lists the workspaces below `baseDir`, oldest job first; empty if the folder does not exist. */
export async function listRuns(baseDir: string): Promise<KnownRun[]> {
  const names = await readdir(baseDir).catch(() => []);
  const runs: KnownRun[] = [];
  for (const name of names) {
    const ids = parseWorkspaceName(name);
    if (!ids) continue;
    const dir = join(baseDir, name);
    runs.push({ runId: ids.jobId, attempt: ids.attempt, dir, mark: await readRunMark(dir) });
  }
  return runs.sort((left, right) => left.runId - right.runId || left.attempt - right.attempt);
}

/**
 * Ends every remaining process of an old run on this host: SIGTERM, and SIGKILL after `graceMs`.
 *
 * Processes are found by the mark in their environment, which all children inherit, and by the
 * recorded process id with its start time, including descendants. Without `attempt`, all attempts
 * are ended. Returns the number of ended processes; the folders remain (see `removeDirectory`).
 */
export async function endRun(
  runId: number,
  attempt: number | undefined,
  baseDir: string,
  graceMs = DEFAULT_GRACE_MS,
): Promise<number> {
  const base = await realpath(baseDir).catch(() => null);
  if (base === null) return 0;
  const prefix = `${MARK_VARIABLE}=${runId}:${attempt === undefined ? '' : `${attempt}:`}`;
  const suffix = `:${baseKey(base)}`;
  const [runs, boot] = await Promise.all([listRuns(base), bootId()]);
  const marks = runs
    .filter((run) => run.runId === runId && (attempt === undefined || run.attempt === attempt))
    .flatMap((run) => run.mark ?? []);
  return endProcesses({
    isMarked: (line) => line.startsWith(prefix) && line.endsWith(suffix),
    roots: marks.filter((mark) => mark.bootId === boot),
    graceMs,
    except: [],
  });
}

/**
 * Ends the processes that carry exactly this mark, and their descendants.
 *
 * @param except id of a process that receives no signal
 */
export async function endMarked(mark: string, graceMs: number, except?: number): Promise<number> {
  const entry = `${MARK_VARIABLE}=${mark}`;
  return endProcesses({
    isMarked: (line) => line === entry,
    roots: [],
    graceMs,
    except: except === undefined ? [] : [except],
  });
}

/** Ends the descendants of a process, except the processes in `except`. */
export async function endBelow(
  root: ProcessEntry,
  graceMs: number,
  except: readonly number[],
): Promise<number> {
  return endProcesses({ isMarked: null, roots: [root], graceMs, except });
}

/** Returns the ids of processes that carry exactly this mark, and of their descendants. */
export async function markedProcesses(mark: string): Promise<number[]> {
  const entry = `${MARK_VARIABLE}=${mark}`;
  const found = await findRunProcesses((line) => line === entry, []);
  return found.map(({ pid }) => pid);
}

interface Search {
  /** Predicate for the mark; null: processes are only found by their roots. */
  readonly isMarked: ((environmentLine: string) => boolean) | null;
  readonly roots: readonly Root[];
  readonly graceMs: number;
  readonly except: readonly number[];
}

type Root = Pick<ProcessEntry, 'pid' | 'startTime'>;

async function endProcesses(search: Search): Promise<number> {
  const ended = new Set<string>();
  const signaled = new Set<string>();
  // Uses a clock that stops while the machine sleeps, and counts from the first kill: after a long
  // sleep, processes must still be killed before the wait ends.
  const killFrom = performance.now() + search.graceMs;
  let killedAt: number | null = null;
  for (let emptyScans = 0; ; await sleep(POLL_MS)) {
    const all = await findRunProcesses(search.isMarked, search.roots);
    const found = all.filter(({ pid }) => !search.except.includes(pid));
    emptyScans = found.length === 0 ? emptyScans + 1 : 0;
    if (emptyScans === EMPTY_SCANS) return ended.size;
    const now = performance.now();
    if (killedAt !== null && now - killedAt > KILL_WAIT_MS) return ended.size;
    const kill = now >= killFrom;
    for (const entry of found) {
      const key = identity(entry);
      if (!kill && signaled.has(key)) continue;
      signaled.add(key);
      if (await sendSignal(entry, kill ? 'SIGKILL' : 'SIGTERM')) ended.add(key);
    }
    if (kill) killedAt ??= now;
  }
}

async function findRunProcesses(
  isMarked: Search['isMarked'],
  roots: readonly Root[],
): Promise<ProcessEntry[]> {
  const entries = await listProcesses();
  const marked = isMarked
    ? await inParallel(entries, async ({ pid }) =>
        (await readProcessEnvironment(pid)).some(isMarked),
      )
    : [];
  const rootKeys = new Set(roots.map(identity));
  const chosen = new Set<number>();
  entries.forEach((entry, index) => {
    if (marked[index] || rootKeys.has(identity(entry))) chosen.add(entry.pid);
  });
  // A child with its own environment (`env -i`, `sudo`) is found through its parent only.
  addDescendants(entries, chosen);
  for (const pid of ownAncestry(entries)) chosen.delete(pid);
  return entries.filter((entry) => chosen.has(entry.pid));
}

/**
 * Returns this process and its ancestors, which are never ended, even if they were started inside a
 * run.
 */
function ownAncestry(entries: readonly ProcessEntry[]): Set<number> {
  const parentByPid = new Map(entries.map((entry) => [entry.pid, entry.parentPid]));
  const ancestry = new Set<number>();
  for (
    let pid: number | undefined = process.pid;
    pid && !ancestry.has(pid);
    pid = parentByPid.get(pid)
  ) {
    ancestry.add(pid);
  }
  return ancestry;
}

async function sendSignal(entry: ProcessEntry, signal: NodeJS.Signals): Promise<boolean> {
  // The process id can have been reused between listing and signal.
  const current = await findProcess(entry.pid);
  if (!current || identity(current) !== identity(entry)) return false;
  return signalProcess(entry.pid, signal);
}

function identity({ pid, startTime }: { pid: number; startTime: string }): string {
  return `${pid}@${startTime}`;
}
