const LIMIT_MS = 180_000;

/**
 * Waits until `isDone()` resolves to true; throws an Error after three minutes.
 *
 * @param {() => Promise<boolean>} isDone
 */
export async function until(isDone, intervalMs = 100) {
  const started = Date.now();
  while (!(await isDone())) {
    if (Date.now() - started > LIMIT_MS) throw new Error('The measured work did not end.');
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
