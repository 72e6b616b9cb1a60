const PAUSE_MS = 20;

/** Tries an assertion until it holds, or throws its last failure after `timeoutMs`. */
export async function eventually<T>(assertion: () => Promise<T> | T, timeoutMs = 5000): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
