import { readFile } from 'node:fs/promises';

/** Assigns processors to commands round-robin, to distribute the load. */
export class Processors {
  private next = process.pid;

  /**
   * @param all numbers of the processors that this process can use
   * @param max maximum number of processors of one command; 0: unlimited
   */
  constructor(
    private readonly all: readonly number[],
    private readonly max: number,
  ) {}

  /** Returns the processors of the next command; empty: no restriction. */
  take(): readonly number[] {
    const { all, max } = this;
    if (max === 0 || max >= all.length) return [];
    const first = this.next;
    this.next += max;
    return all.map((_, index) => all[(first + index) % all.length] ?? 0).slice(0, max);
  }
}

/**
 * Returns the numbers of the processors that this process can use; empty if the system does not
 * list them.
 */
export async function allowedProcessors(): Promise<number[]> {
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
