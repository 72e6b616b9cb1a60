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
  readEnvironment,
} from './process-table.js';
import { readRunMark, type RunMark } from './run-mark.js';
import { baseKey, MARK_VARIABLE, parseWorkspaceName } from './workspace.js';

/** A run found below the base folder, living or left behind. */
export interface KnownRun {
  readonly runId: number;
  readonly attempt: number;
  readonly dir: string;
  /** Null when the run never got as far as having a child. */
  readonly mark: RunMark | null;
}

const POLL_MS = 50;
const DEFAULT_GRACE_MS = 3_000;
/** After SIGKILL only a process in an uninterruptible wait remains; it ends with that wait. */
const KILL_WAIT_MS = 5_000;
/**
 * Looks in a row that have to find nothing. One is not enough: what is started while the table is read
 * is not in it, and a program that is just being loaded has no environment yet.
 */
const EMPTY_LOOKS = 3;

/** Lists the workspaces below `baseDir`, oldest job first; empty when the folder does not exist. */
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
 * Ends every process an old run left on this host: SIGTERM, and SIGKILL after `graceMs`.
 *
 * Found by the environment mark, which forks and children inherit wherever they were moved to, and by the
 * recorded pid with its start time and their descendants. Without `attempt` all attempts are ended.
 * Returns how many processes were ended; the folders stay (see `removeDirectory`).
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
 * Ends what still carries exactly this mark, and the descendants of that.
 *
 * @param except a process of the run that is left alone
 */
export async function endMarked(mark: string, graceMs: number, except?: number): Promise<number> {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  return endProcesses({
    isMarked: (line) => line === wanted,
    roots: [],
    graceMs,
    except: except === undefined ? [] : [except],
  });
}

/** Ends the descendants of a process, but for those named. */
export async function endBelow(
  root: ProcessEntry,
  graceMs: number,
  except: readonly number[],
): Promise<number> {
  return endProcesses({ isMarked: null, roots: [root], graceMs, except });
}

/** Process ids of what carries exactly this mark, and of its descendants. */
export async function markedProcesses(mark: string): Promise<number[]> {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  const found = await findRunProcesses((line) => line === wanted, []);
  return found.map(({ pid }) => pid);
}

interface Search {
  /** Null: processes are known by their roots alone. */
  readonly isMarked: ((environmentLine: string) => boolean) | null;
  readonly roots: readonly Root[];
  readonly graceMs: number;
  readonly except: readonly number[];
}

type Root = Pick<ProcessEntry, 'pid' | 'startTime'>;

async function endProcesses(search: Search): Promise<number> {
  const ended = new Set<string>();
  const signalled = new Set<string>();
  // Of a clock that stands while the machine does, and from the first kill: who was asleep for long must
  // not give up on processes before they were killed.
  const killFrom = performance.now() + search.graceMs;
  let killedAt: number | null = null;
  for (let empty = 0; ; await sleep(POLL_MS)) {
    const all = await findRunProcesses(search.isMarked, search.roots);
    const found = all.filter(({ pid }) => !search.except.includes(pid));
    empty = found.length === 0 ? empty + 1 : 0;
    if (empty === EMPTY_LOOKS) return ended.size;
    const now = performance.now();
    if (killedAt !== null && now - killedAt > KILL_WAIT_MS) return ended.size;
    const kill = now >= killFrom;
    for (const entry of found) {
      const key = identity(entry);
      if (!kill && signalled.has(key)) continue;
      signalled.add(key);
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
    ? await inParallel(entries, async ({ pid }) => (await readEnvironment(pid)).some(isMarked))
    : [];
  const rootKeys = new Set(roots.map(identity));
  const chosen = new Set<number>();
  entries.forEach((entry, index) => {
    if (marked[index] || rootKeys.has(identity(entry))) chosen.add(entry.pid);
  });
  // A child with an environment of its own (`env -i`, `sudo`) is known only by its parent.
  addDescendants(entries, chosen);
  for (const pid of ownLine(entries)) chosen.delete(pid);
  return entries.filter((entry) => chosen.has(entry.pid));
}

/** This process and its ancestors: never touched, even when started from inside a run. */
function ownLine(entries: readonly ProcessEntry[]): Set<number> {
  const parentByPid = new Map(entries.map((entry) => [entry.pid, entry.parentPid]));
  const line = new Set<number>();
  for (
    let pid: number | undefined = process.pid;
    pid && !line.has(pid);
    pid = parentByPid.get(pid)
  ) {
    line.add(pid);
  }
  return line;
}

async function sendSignal(entry: ProcessEntry, signal: NodeJS.Signals): Promise<boolean> {
  // Between listing and signal the pid may have been given to another process.
  const current = await findProcess(entry.pid);
  if (!current || identity(current) !== identity(entry)) return false;
  try {
    process.kill(entry.pid, signal);
    return true;
  } catch {
    return false;
  }
}

function identity({ pid, startTime }: { pid: number; startTime: string }): string {
  return `${pid}@${startTime}`;
}
