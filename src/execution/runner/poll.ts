/**
 * Calls `look` at an interval until it resolves to true. Calls never overlap.
 *
 * @param look resolves to true when the checks can end
 * @returns function that ends the checks
 */
export function poll(intervalMs: number, look: () => Promise<boolean>): () => void {
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
