import { maskText } from '../../outbound/mask.js';
import type { OutboundRequest, OutboundResponse } from '../../outbound/outbound-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isRetryableStatus, parseRetryAfter } from '../../outbound/retry.js';
import { storableText } from '../../common/fields/text.js';
import { SendError, type SendContext, type SendResult } from './backend.js';

/** Maximum length of a response in the attempt log, in characters. */
const EXCERPT_LENGTH = 500;

export interface HttpDelivery {
  /** Beginning of the error text, followed by `: <status>`. */
  readonly failure: string;
  readonly request: OutboundRequest;
  /** Texts that must not occur in stored texts. */
  readonly secrets: readonly string[];
  /** Status codes to retry in addition to the general list. */
  readonly alsoRetry?: readonly number[];
}

/**
 * Sends one request and accepts only 2xx. Every other result is a SendError that
 * specifies if and when to retry.
 */
export async function deliver(
  context: SendContext,
  delivery: HttpDelivery,
): Promise<OutboundResponse> {
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

/** Sends a message that is one request, and logs the response. */
export async function deliverOnce(
  context: SendContext,
  delivery: HttpDelivery,
): Promise<SendResult> {
  const { body, status } = await deliver(context, delivery);
  return { sent: 1, detail: excerptOf(body, delivery.secrets), statusCode: status };
}

/** Returns the delay that a service requests, as the optional property of a SendFailure. */
export function retryAfterOf(
  response: OutboundResponse,
  context: SendContext,
): { retryAfterMs?: number } {
  const waitMs = parseRetryAfter(response.headers['retry-after'], context.now().getTime());
  return waitMs === undefined ? {} : { retryAfterMs: waitMs };
}

/** Converts an OutboundError to a SendError; unknown errors are bugs and pass through unchanged. */
export function toSendError(error: unknown, failure: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  return new SendError(
    `${failure}: ${error.message}`,
    { retryable: error.retryable },
    { cause: error },
  );
}

/** Header value of a scheme and credentials, such as `Bearer <token>`; short words are not secrets. */
const SCHEME_AND_CREDENTIALS = /^\S+ (\S{6,})$/;

/** Returns the beginning of a response in one line, without secrets. */
export function excerptOf(body: string, secrets: readonly string[]): string {
  // A service can quote the credentials of a header without their scheme.
  const all = secrets.flatMap((secret) => [secret, SCHEME_AND_CREDENTIALS.exec(secret)?.[1] ?? '']);
  const line = storableText(maskText(body, all)).replace(/\s+/g, ' ').trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line;
}
