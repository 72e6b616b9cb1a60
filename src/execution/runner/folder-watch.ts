import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { poll } from './poll.js';

const execute = promisify(execFile);

const WATCH_MS = 10_000;
/**
 * Timeout of one check, in ms; far longer than the interval, because a folder with very many files takes long
 * to check.
 */
const CHECK_LIMIT_MS = 10 * 60_000;

/**
 * Checks the size of a folder, every ten seconds by default, and calls `onFull` once when it exceeds the limit.
 *
 * @returns function that stops the watch
 */
export function watchFolder(
  dir: string,
  maxBytes: number,
  onFull: () => void,
  intervalMs = WATCH_MS,
): () => void {
  const ending = new AbortController();
  const stop = poll(intervalMs, async () => {
    if ((await bytesIn(dir, ending.signal)) <= maxBytes) return false;
    onFull();
    return true;
  });
  return () => {
    stop();
    ending.abort();
  };
}

/**
 * Returns the disk usage of a folder in bytes. Links are not followed. Files can disappear meanwhile.
 */
async function bytesIn(dir: string, signal: AbortSignal): Promise<number> {
  const args = ['-skx', dir];
  const { stdout } = await execute('du', args, { timeout: CHECK_LIMIT_MS, signal }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return (Number.parseInt(stdout, 10) || 0) * 1024;
}
