import { readFileSync } from 'node:fs';

/**
 * How much the event loop had to do while `work` was done, in milliseconds: nobody else was served
 * meanwhile. It is the processor time of this thread, and not the time that passed, which on a busy
 * machine says more of the machine. The application of a test runs in the same process.
 */
export async function eventLoopTime(work: () => PromiseLike<unknown>): Promise<number> {
  const before = processorTime();
  await work();
  return processorTime() - before;
}

/**
 * The longest that the event loop was busy without a turn for others while `work` was done, in
 * milliseconds of processor time.
 */
export async function longestTurn(work: () => PromiseLike<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  let before = processorTime();
  const look = (): void => {
    const now = processorTime();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longest;
}

/** As the kernel counts it for the thread that reads it, in milliseconds; Linux tells it here. */
export function processorTime(): number {
  const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
