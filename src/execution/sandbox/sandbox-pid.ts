import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';

/** Maximum length of the message, in characters. bubblewrap writes about a hundred bytes. */
const MAX_LENGTH = 4096;

/**
 * Returns the process id, in the numbering of this machine, of the first process inside a started
 * sandbox; null if the sandbox ended before it had such a process.
 */
export async function sandboxPid(child: ChildProcess): Promise<number | null> {
  const [, , , statusPipe] = child.stdio;
  if (!(statusPipe instanceof Readable)) return null;
  let text = '';
  return new Promise((resolve) => {
    statusPipe.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(0, MAX_LENGTH);
      // A container guard keeps its end of the socket open until the container ends, so the first
      // match resolves.
      const [, pid] = /"child-pid": (\d+)\D/.exec(text) ?? [];
      if (pid !== undefined) resolve(Number(pid));
    });
    statusPipe.once('close', () => resolve(null)).once('error', () => resolve(null));
  });
}
