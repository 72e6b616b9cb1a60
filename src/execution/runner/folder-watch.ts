import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { poll } from './poll.js';

const execute = promisify(execFile);

const WATCH_MS = 10_000;

/**
 * Checks the size of a folder every ten seconds and calls `onFull` once when it exceeds the limit.
 *
 * @returns function that stops the watch
 */
export function watchFolder(dir: string, maxBytes: number, onFull: () => void): () => void {
  return poll(WATCH_MS, async () => {
    if ((await bytesIn(dir)) <= maxBytes) return false;
    onFull();
    return true;
  });
}

/**
 * Returns the disk usage of a folder in bytes. Links are not followed. Files can disappear meanwhile.
 */
async function bytesIn(dir: string): Promise<number> {
  const args = ['-skx', dir];
  const { stdout } = await execute('du', args, { timeout: WATCH_MS }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return (Number.parseInt(stdout, 10) || 0) * 1024;
}
