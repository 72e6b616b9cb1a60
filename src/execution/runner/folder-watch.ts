import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { lookEvery } from './look-every.js';

const execute = promisify(execFile);

const WATCH_MS = 10_000;

/**
 * Looks every ten seconds at what a folder holds, and tells once when that is too much.
 *
 * @returns ends the watch
 */
export function watchFolder(dir: string, maxBytes: number, onFull: () => void): () => void {
  return lookEvery(WATCH_MS, async () => {
    if ((await bytesIn(dir)) <= maxBytes) return false;
    onFull();
    return true;
  });
}

/** What the disk has given to a folder, its links not followed; files may vanish meanwhile. */
async function bytesIn(dir: string): Promise<number> {
  const args = ['-skx', dir];
  const { stdout } = await execute('du', args, { timeout: WATCH_MS }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return (Number.parseInt(stdout, 10) || 0) * 1024;
}
