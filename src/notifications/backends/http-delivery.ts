import { maskText } from '../../common/outbound/mask.js';
import type { OutboundRequest, OutboundResponse } from '../../common/outbound/outbound-client.js';
import { OutboundError } from '../../common/outbound/outbound-error.js';
import { isRetryableStatus, parseRetryAfter } from '../../common/outbound/retry.js';
import { storableText } from '../message/storable.js';
import { SendError } from './backend.js';
import type { SendContext } from './backend.js';

/** How much of an answer the attempt log keeps. */
const EXCERPT_LENGTH = 500;

export interface Delivery {
  /** Start of the error text, followed by `: <status>`. */
  readonly failure: string;
  readonly request: OutboundRequest;
  /** Words that must not appear in stored texts. */
  readonly secrets: readonly string[];
  /** Statuses to try again although they are not in the general list. */
  readonly alsoRetry?: readonly number[];
}

/**
 * Sends one request and accepts only 2xx (requirement N4). Every other outcome is a SendError
 * that says whether, and how late, another attempt makes sense.
 */
export async function deliver(context: SendContext, delivery: Delivery): Promise<OutboundResponse> {
  const response = await context.http.request(delivery.request).catch((error: unknown) => {
    throw toSendError(error, delivery.failure);
  });
  if (response.status >= 200 && response.status <= 299) return response;
  throw new SendError(`${delivery.failure}: ${response.status}`, {
    retryable:
      isRetryableStatus(response.status) || delivery.alsoRetry?.includes(response.status) === true,
    statusCode: response.status,
    detail: excerptOf(response.body, delivery.secrets),
    ...retryAfterOf(response, context),
  });
}

/** The wait a service asks for, as the optional property of a SendFailure. */
export function retryAfterOf(
  response: OutboundResponse,
  context: SendContext,
): { retryAfterMs?: number } {
  const waitMs = parseRetryAfter(response.headers['retry-after'], context.now().getTime());
  return waitMs === undefined ? {} : { retryAfterMs: waitMs };
}

/** Wraps an OutboundError; unknown errors pass through as the bugs they are. */
export function toSendError(error: unknown, failure: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  return new SendError(
    `${failure}: ${error.message}`,
    { retryable: error.retryable },
    { cause: error },
  );
}

/** The start of an answer in one line, without secrets. */
export function excerptOf(body: string, secrets: readonly string[]): string {
  const line = storableText(maskText(body, secrets)).replace(/\s+/g, ' ').trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line;
}
