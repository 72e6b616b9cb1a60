import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;

/**
 * How long the event loop stood still at most while `work` was done, in milliseconds: whoever asked
 * for anything then waited as long. The application of a test runs in the same process.
 */
export async function longestStall(work: () => PromiseLike<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  await work();
  // What stands in the way of the timer is seen when the timer comes.
  await new Promise((resolve) => setTimeout(resolve, 2 * RESOLUTION_MS));
  delay.disable();
  return delay.max / 1e6;
}
