import { readFile } from 'node:fs/promises';

import { lookEvery } from './look-every.js';
import { inParallel } from './process-table.js';

const WATCH_MS = 500;

/**
 * Looks twice a second at the memory of some processes together, and tells once when that is too much.
 *
 * @param list their process ids
 * @returns ends the watch
 */
export function watchMemory(
  list: () => Promise<readonly number[]>,
  maxBytes: number,
  onFull: () => void,
): () => void {
  return lookEvery(WATCH_MS, async () => {
    const pids = await list();
    // What forks share counts for each of them, so this is the most it can be; the rest is dearer to ask.
    if ((await sumOf(pids, residentBytes)) <= maxBytes) return false;
    if ((await sumOf(pids, ownShareOfBytes)) <= maxBytes) return false;
    onFull();
    return true;
  });
}

async function sumOf(
  pids: readonly number[],
  bytesOf: (pid: number) => Promise<number | null>,
): Promise<number> {
  const bytes = await inParallel(pids, bytesOf);
  return bytes.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

const residentBytes = (pid: number): Promise<number | null> =>
  kilobytesIn(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m);

/** Memory that several processes have in common counts in equal parts; null of one that has ended. */
async function ownShareOfBytes(pid: number): Promise<number | null> {
  const share = await kilobytesIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m);
  return share ?? residentBytes(pid);
}

async function kilobytesIn(path: string, pattern: RegExp): Promise<number | null> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const [, kilobytes] = pattern.exec(text) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
