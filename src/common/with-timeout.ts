/**
 * Returns the result of some work.
 *
 * @param expire returns the error to throw if the work takes longer; it can also stop the work
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  milliseconds: number,
  expire: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(expire()), milliseconds).unref();
  });
  // After the timeout no caller handles a failure of the work.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
