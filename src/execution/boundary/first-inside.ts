import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';

/** bubblewrap writes some hundred bytes. */
const MAX_LENGTH = 4096;

/**
 * The process id, as this machine counts, of the first process inside a boundary that has just been
 * started; null when it has not got that far.
 */
export async function firstInside(child: ChildProcess): Promise<number | null> {
  const [, , , told] = child.stdio;
  if (!(told instanceof Readable)) return null;
  let text = '';
  return new Promise((resolve) => {
    told.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(0, MAX_LENGTH);
      // A guard keeps its end open to the end of the container.
      const [, pid] = /"child-pid": (\d+)\D/.exec(text) ?? [];
      if (pid !== undefined) resolve(Number(pid));
    });
    told.once('close', () => resolve(null)).once('error', () => resolve(null));
  });
}
