/**
 * Looks again and again, never twice at the same time, until a look has found what it is there for.
 *
 * @param look resolves to whether it has
 * @returns ends it
 */
export function lookEvery(intervalMs: number, look: () => Promise<boolean>): () => void {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look()
      .then((isFound) => {
        if (isFound) clearInterval(timer);
      })
      .finally(() => (isLooking = false));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
