import { readFile } from 'node:fs/promises';

/** The processors that commands are kept to, taken in turn so that they spread. */
export class Processors {
  private next = process.pid;

  /**
   * @param all numbers of those this process may use itself
   * @param most how many of them one command may use; 0: any
   */
  constructor(
    private readonly all: readonly number[],
    private readonly most: number,
  ) {}

  /** Those of one more command; empty: any. */
  take(): readonly number[] {
    const { all, most } = this;
    if (most === 0 || most >= all.length) return [];
    const first = this.next;
    this.next += most;
    return all.map((_, index) => all[(first + index) % all.length] ?? 0).slice(0, most);
  }
}

/** Of this process, as numbers; none where the system does not tell. */
export async function ownProcessors(): Promise<number[]> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const [, ranges = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? [];
  return ranges
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
}
