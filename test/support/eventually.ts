const FIRST_PAUSE_MS = 20;
/** Maximum pause. An assertion may read all processes of the machine. */
const MAX_PAUSE_MS = 100;

/**
 * Repeats an assertion until it passes, or throws its last failure after `timeoutMs`. A shorter `firstPauseMs`
 * is for cheap assertions that a file waits for many times.
 */
export async function eventually<T>(
  assertion: () => Promise<T> | T,
  timeoutMs = 5000,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.2, MAX_PAUSE_MS)) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
