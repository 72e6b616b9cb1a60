/**
 * Calls `check` at an interval until `check` resolves to true. Calls never overlap.
 *
 * @param check resolves to true when no more checks are necessary
 * @returns function that ends the checks
 */
export function poll(intervalMs: number, check: () => Promise<boolean>): () => void {
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void check()
      .then((isDone) => {
        if (isDone) clearInterval(timer);
      })
      .finally(() => (isChecking = false));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
