/**
 * Calls `check` at an interval until `check` resolves to true. Calls never overlap. A rejected check counts as
 * unfinished.
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
      // A failed check, for example without a free file descriptor, is repeated.
      .catch(() => undefined)
      .finally(() => (isChecking = false));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
