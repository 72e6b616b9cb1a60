import { readFileSync } from 'node:fs';

/**
 * Returns the processor time of the event loop during `work`, in milliseconds. Unlike the elapsed time, the
 * processor time of the thread does not depend on other processes. The application of a test runs in the same
 * process.
 */
export async function eventLoopTime(work: () => PromiseLike<unknown>): Promise<number> {
  const before = processorTime();
  await work();
  return processorTime() - before;
}

/**
 * Returns the longest time that the event loop was busy without interruption during `work`, in milliseconds
 * of processor time.
 */
export async function longestTurn(work: () => PromiseLike<unknown>): Promise<number> {
  let hasEnded = false;
  let longest = 0;
  let before = processorTime();
  const measure = (): void => {
    const now = processorTime();
    longest = Math.max(longest, now - before);
    before = now;
    if (!hasEnded) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  hasEnded = true;
  return longest;
}

/** Returns the processor time of the calling thread in milliseconds, as counted by the Linux kernel. */
export function processorTime(): number {
  const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
