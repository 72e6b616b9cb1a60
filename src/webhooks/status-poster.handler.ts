import { Injectable } from '@nestjs/common';
import { UnsealError } from '../common/crypto/secret-box.js';
import { failPoint } from '../common/fail-point.js';
import { storableText } from '../common/fields/text.js';
import { CircuitBreaker } from '../outbound/circuit-breaker.service.js';
import { maskText } from '../outbound/mask.js';
import { OutboundClient, type OutboundResponse } from '../outbound/outbound-client.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { isRetryableStatus, nextDelayMs, parseRetryAfter } from '../outbound/retry.js';
import { Outbox } from '../common/queue/outbox.service.js';
import type { QueueHandler } from '../common/queue/queue-processor.js';
import { LookupError } from '../credentials/external/lookup-error.js';
import { LookupSession } from '../credentials/external/lookup-session.js';
import {
  StatusPostComposer,
  Unpostable,
  type ComposedPost,
} from './status-post-composer.service.js';
import {
  STATUS_POSTS_QUEUE,
  StatusPostsRepository,
  type LeasedPost,
  type NewAttempt,
} from './status-posts.repository.js';

const DETAIL_LENGTH = 200;

/**
 * Report of an attempt to the circuit breaker: `failed` without a response or after a server error,
 * `succeeded` after other responses such as a rate limit, `release` if nothing was sent or accepted.
 */
type BreakerReport = 'failed' | 'succeeded' | 'release';

/**
 * Sends the posts of a job one by one, in order (docs/contract/webhooks.md#statuses-posted-back).
 */
@Injectable()
export class StatusPoster implements QueueHandler {
  constructor(
    private readonly store: StatusPostsRepository,
    private readonly composer: StatusPostComposer,
    private readonly client: OutboundClient,
    private readonly breaker: CircuitBreaker,
    private readonly outbox: Outbox,
  ) {}

  async handle(postId: number): Promise<void> {
    const jobId = await this.store.jobOf(postId);
    if (jobId === null) {
      await this.outbox.acknowledge(STATUS_POSTS_QUEUE, postId);
      return;
    }
    // The worker holding the lease sends everything queued since, so a second wake-up can be
    // dropped.
    for (;;) {
      const post = await this.store.lease(jobId);
      if (!post) break;
      const lookups = new LookupSession(jobId);
      try {
        await this.deliver(post, lookups);
      } finally {
        // After the post, because the end of a login can revoke the token.
        await lookups.close();
      }
    }
    const seconds = await this.store.waitSeconds(postId);
    if (seconds !== null) await this.outbox.postpone(STATUS_POSTS_QUEUE, postId, seconds);
  }

  private async deliver(post: LeasedPost, lookups: LookupSession): Promise<void> {
    // No organization can pause the posts of another one by requests that the service cannot answer.
    const destination = `${post.organizationId} status_post ${new URL(post.url).origin}`;
    const report = await this.admit(post, destination, 'The service');
    if (!report) return;
    // Last, because it can fetch the token from a secret store.
    const composed = await this.compose(post, lookups);
    await report(composed ? await this.attempt(post, composed) : 'release');
  }

  /**
   * Postpones the post if the circuit breaker of a destination is open.
   *
   * @param name name of the destination for the reason
   * @returns function that reports the attempt to the circuit breaker; null for a postponed post
   */
  private async admit(
    post: LeasedPost,
    destination: string,
    name: string,
  ): Promise<((report: BreakerReport) => Promise<void>) | null> {
    const admission = await this.breaker.admit(destination);
    if (admission.admitted) {
      return async (report) => {
        if (report === 'failed' || admission.tracked) await this.breaker[report](destination);
      };
    }
    const reason = `${name} failed several times in a row. Status posts are paused.`;
    await (post.overdue
      ? this.store.finish(post, 'failed', reason)
      : this.store.postpone(post, admission.waitSeconds, reason));
    return null;
  }

  /** Returns the request; null if it cannot be sent now. */
  private async compose(post: LeasedPost, lookups: LookupSession): Promise<ComposedPost | null> {
    // A secret store that does not respond must not delay the posts with other credentials.
    const store = `${post.organizationId} status_post credential ${post.credentialId}`;
    const report = await this.admit(post, store, 'The secret store of the credential');
    if (!report) return null;
    try {
      const composed = await this.composer.compose(post, lookups);
      await report('succeeded');
      return composed;
    } catch (error) {
      const isLookup = error instanceof LookupError;
      await report(isLookup ? 'failed' : 'release');
      if (isLookup) {
        const attempt = { answer: null, detail: error.message, duration_ms: 0 };
        await this.settle(post, attempt, true, error.message);
        return null;
      }
      if (!(error instanceof Unpostable) && !(error instanceof UnsealError)) throw error;
      await this.store.finish(post, 'failed', error.message);
      return null;
    }
  }

  private async attempt(
    post: LeasedPost,
    { request, token }: ComposedPost,
  ): Promise<BreakerReport> {
    const started = performance.now();
    try {
      const response = await this.client.request(request);
      failPoint('status-post-sent');
      return await this.handleResponse(post, response, token);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const duration_ms = Math.round(performance.now() - started);
      const attempt = { answer: null, detail: maskText(error.message, [token]), duration_ms };
      await this.settle(post, attempt, error.retryable, attempt.detail);
      return error.retryable ? 'failed' : 'release';
    }
  }

  private async handleResponse(
    post: LeasedPost,
    { status, headers, body, durationMs }: OutboundResponse,
    token: string,
  ): Promise<BreakerReport> {
    const detail = storableText(maskText(body, [token]).slice(0, DETAIL_LENGTH));
    const entry = { answer: status, detail, duration_ms: durationMs };
    if (status >= 200 && status < 300) {
      await this.store.finish(post, 'sent', '', entry);
      return 'succeeded';
    }
    const retryable = isRetryableStatus(status);
    const retryAfter = parseRetryAfter(headers['retry-after'], Date.now());
    await this.settle(post, entry, retryable, `The service responded with ${status}.`, retryAfter);
    return status === 408 || status >= 500 ? 'failed' : 'succeeded';
  }

  private async settle(
    post: LeasedPost,
    attempt: NewAttempt,
    retryable: boolean,
    reason: string,
    retryAfterMs?: number,
  ): Promise<void> {
    const delayMs =
      retryable && !post.overdue ? nextDelayMs(post.tries + 1, Math.random, retryAfterMs) : null;
    if (delayMs === null) await this.store.finish(post, 'failed', reason, attempt);
    else await this.store.postpone(post, delayMs / 1000, reason, attempt);
  }
}
