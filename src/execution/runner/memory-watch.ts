import { readFile } from 'node:fs/promises';
import { poll } from './poll.js';
import { inParallel } from './process-table.js';

const WATCH_MS = 500;

/**
 * Checks the total memory of some processes twice a second and calls `onFull` once when it exceeds
 * the limit.
 *
 * @param list returns the process ids
 * @returns function that stops the watch
 */
export function watchMemory(
  list: () => Promise<readonly number[]>,
  maxBytes: number,
  onFull: () => void,
): () => void {
  return poll(WATCH_MS, async () => {
    const pids = await list();
    // Resident memory counts shared pages once per process, so the sum is an upper bound. The exact
    // value is more expensive to read.
    if ((await sumOf(pids, residentBytes)) <= maxBytes) return false;
    if ((await sumOf(pids, proportionalBytes)) <= maxBytes) return false;
    onFull();
    return true;
  });
}

async function sumOf(
  pids: readonly number[],
  bytesOf: (pid: number) => Promise<number | null>,
): Promise<number> {
  const bytes = await inParallel(pids, bytesOf);
  return bytes.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

const residentBytes = (pid: number): Promise<number | null> =>
  kilobytesIn(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m);

/**
 * Returns the memory of a process with its share of shared pages, or the resident memory where the share is
 * unreadable; null if the process has ended.
 */
async function proportionalBytes(pid: number): Promise<number | null> {
  const share = await kilobytesIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m);
  return share ?? residentBytes(pid);
}

async function kilobytesIn(path: string, pattern: RegExp): Promise<number | null> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const [, kilobytes] = pattern.exec(text) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
