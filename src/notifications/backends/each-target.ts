import { SendError, type SendContext, type SendResult } from './backend.js';

/**
 * Sends to every target that earlier attempts did not reach, one after another, and returns the
 * exact count. A rejected target does not stop the others. An unreachable service does, because the
 * remaining targets would only wait for the same timeout. Throws one SendError for all failures,
 * which is retryable if any of the failures is retryable.
 */
export async function sendToEach(
  targets: readonly string[],
  context: SendContext,
  sendOne: (target: string) => Promise<void>,
): Promise<SendResult> {
  const wanted = [...new Set(targets)];
  const delivered = wanted.filter((target) => context.delivered.includes(target));
  const failures: SendError[] = [];
  for (const target of wanted) {
    if (delivered.includes(target)) continue;
    try {
      await sendOne(target);
      delivered.push(target);
      // The end of the attempt stores the last one.
      if (delivered.length < wanted.length) await context.keepDelivered(delivered);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      failures.push(error);
      if (error.statusCode === undefined) break;
    }
  }
  if (failures.length > 0) throw combine(failures, delivered, wanted.length);
  return { sent: delivered.length, detail: `Sent to ${delivered.length} of ${wanted.length}.` };
}

function combine(failures: SendError[], delivered: string[], total: number): SendError {
  const texts = [...new Set(failures.map(({ message }) => message))];
  const waits = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const partly = delivered.length > 0 ? ` Sent to ${delivered.length} of ${total}.` : '';
  const statusCode = failures.find((failure) => failure.statusCode !== undefined)?.statusCode;
  return new SendError(`${texts.join('; ')}${partly && `.${partly}`}`, {
    retryable: failures.some(({ retryable }) => retryable),
    delivered,
    detail: [...new Set(failures.map(({ detail }) => detail))].join(' ').trim(),
    ...(waits.length > 0 ? { retryAfterMs: Math.max(...waits) } : {}),
    ...(statusCode === undefined ? {} : { statusCode }),
  });
}
