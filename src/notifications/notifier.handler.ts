import { setMaxListeners } from 'node:events';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { UnsealError } from '../common/crypto/secret-box.js';
import { failPoint } from '../common/fail-point.js';
import { CircuitBreaker } from '../outbound/circuit-breaker.service.js';
import { Lanes } from './lanes.js';
import { OutboundClient } from '../outbound/outbound-client.js';
import { nextDelayMs } from '../outbound/retry.js';
import { Outbox } from '../common/queue/outbox.service.js';
import type { QueueHandler } from '../common/queue/queue-processor.js';
import { Settings } from '../config/settings.js';
import { SendError, type OutgoingMessage, type SendResult } from './backends/backend.js';
import { backendFor } from './backends/registry.js';
import type { Lease, AttemptOutcome, NotificationTarget } from './notification-lease.js';
import { NotificationStore } from './notification-store.service.js';
import { TEST_EVENT } from './message/message-events.js';
import { MessageRenderer } from './message-renderer.service.js';
import { TemplateSecrets } from './template-secrets.service.js';
import { stackOf } from '../common/errors/errors.js';

/** Maximum number of parallel attempts per destination; a fifth of the worker's total. */
const LANE_WIDTH = 10;
const CAPACITY = 10_000;
const FULL_DELAY_SECONDS = 30;
const RENEW_INTERVAL_MS = 10_000;
/** Time for which attempts can continue during the worker's shutdown, in ms. */
const GRACE_MS = 12_000;
/**
 * Maximum random delay, in seconds. Spreads notifications that waited for the same destination.
 */
const JITTER_SECONDS = 5;

/** Time that an attempt of an earlier notification of the same incident usually takes, in seconds. */
const ATTEMPT_SECONDS = 5;
const PAUSED = 'Deliveries to this destination are paused, because it could not be reached.';
const NOT_IN_ORDER = 'An earlier notification of the same incident must be sent first.';

/** State of a destination after an attempt. */
type TargetHealth = 'up' | 'down' | 'unknown';
const HEALTH_STEP = { up: 'succeeded', unknown: 'release' } as const;

/**
 * Error of an attempt that was stopped because the worker shuts down; another worker retries
 * immediately.
 */
class StoppedError extends Error {}

/**
 * Sends notifications: leases a notification, renders its message, attempts to send the message,
 * stores the result, and plans a retry if necessary.
 */
@Injectable()
export class Notifier implements QueueHandler, OnModuleDestroy {
  private readonly logger = new Logger('Notifier');
  private readonly lanes = new Lanes(LANE_WIDTH, CAPACITY);
  private readonly stopping = new AbortController();

  constructor(
    private readonly store: NotificationStore,
    private readonly outbox: Outbox,
    private readonly breaker: CircuitBreaker,
    private readonly renderer: MessageRenderer,
    private readonly secrets: TemplateSecrets,
    private readonly http: OutboundClient,
    private readonly settings: Settings,
  ) {
    // Disables the warning: one listener per running attempt is not a leak.
    setMaxListeners(0, this.stopping.signal);
  }

  async handle(id: number): Promise<void> {
    const target = await this.store.find(id);
    if (!target) {
      await this.outbox.acknowledge('notifications', id);
      return;
    }
    if (target.wait_seconds !== null) {
      await this.store.postpone(id, target.wait_seconds + ATTEMPT_SECONDS, NOT_IN_ORDER);
      return;
    }
    if (!target.due) return;
    const entry = await this.lanes.enter(target.destination, id, () => this.work(id, target));
    if (entry === 'full') await this.outbox.postpone('notifications', id, FULL_DELAY_SECONDS);
  }

  stop(): void {
    this.lanes.close();
    setTimeout(() => this.stopping.abort(), GRACE_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    await this.lanes.idle();
  }

  /** Logs errors that are not results of an attempt; the outbox queues the notification again. */
  private async work(id: number, target: NotificationTarget): Promise<void> {
    try {
      await this.deliver(id, target);
    } catch (error) {
      const reason = stackOf(error);
      this.logger.error({ message: 'notification not processed', notification: id, error: reason });
    }
  }

  /**
   * Attempts to send a notification. A test is sent even if the circuit breaker is open, because
   * the user wants to know if the destination is reachable again.
   */
  private async deliver(
    id: number,
    { destination, is_test: isTest }: NotificationTarget,
  ): Promise<void> {
    const admission = await this.breaker.admit(destination);
    if (!admission.admitted && !isTest) {
      await this.store.postpone(id, admission.waitSeconds + Math.random() * JITTER_SECONDS, PAUSED);
      return;
    }
    const lease = await this.store.lease(id);
    if (!lease) {
      if (admission.admitted && admission.tracked) await this.breaker.release(destination);
      return;
    }
    const renewal = setInterval(() => {
      this.store.renew(lease).catch(() => undefined);
    }, RENEW_INTERVAL_MS).unref();
    try {
      const { outcome, health } = await this.attempt(lease);
      failPoint('notification-sent');
      await this.store.settle(lease, outcome);
      if (health === 'down') await this.breaker.failed(destination);
      else if (!admission.admitted || admission.tracked) {
        await this.breaker[HEALTH_STEP[health]](destination);
      }
    } finally {
      clearInterval(renewal);
    }
  }

  private async attempt(lease: Lease): Promise<{ outcome: AttemptOutcome; health: TargetHealth }> {
    const started = performance.now();
    const elapsed = (): number => Math.round(performance.now() - started);
    let message: OutgoingMessage | null = null;
    try {
      message = await this.renderer.render(lease);
      const { sent, detail, statusCode = null } = await this.send(lease, message);
      const attempt = { statusCode, detail, durationMs: elapsed() };
      const noFailure = { error: '', delivered: [], delaySeconds: null };
      const outcome = { status: 'successful', sent, message, attempt, ...noFailure } as const;
      return { outcome, health: 'up' };
    } catch (error) {
      const failure = this.failureOf(error, lease);
      return {
        outcome: outcomeOf(failure, { lease, message, durationMs: elapsed() }),
        health: healthAfter(error),
      };
    }
  }

  private send(lease: Lease, message: OutgoingMessage): Promise<SendResult> {
    const { notification_type: type, notification_template_id: templateId } = lease;
    const configuration = this.secrets.open(templateId, type, lease.notification_configuration);
    const { CHAT_A_API_URL, SMS_A_API_URL, INCIDENT_A_API_URL } = this.settings;
    const sending = backendFor(type).send(configuration, message, {
      http: this.http,
      urls: { chatA: CHAT_A_API_URL, smsA: SMS_A_API_URL, incidentA: INCIDENT_A_API_URL },
      event: lease.event,
      runTemplateId: lease.run_template_id,
      messageId: lease.message_id,
      delivered: lease.delivered,
      keepDelivered: (targets) => this.store.keepDelivered(lease, targets),
      now: () => new Date(),
    });
    return unlessAborted(sending, this.stopping.signal);
  }

  /** Converts any error to a SendError for the record and the retry rules. */
  private failureOf(error: unknown, { id }: Lease): SendError {
    if (error instanceof SendError) return error;
    if (error instanceof StoppedError) {
      return new SendError('The worker was stopped before the outcome was known.', {
        retryable: true,
      });
    }
    if (error instanceof UnsealError) {
      return new SendError('The configuration cannot be decrypted with the current keys.');
    }
    const reason = stackOf(error);
    this.logger.error({ message: 'attempt failed unexpectedly', notification: id, error: reason });
    return new SendError('The notification could not be sent because of an internal error.', {
      retryable: true,
    });
  }
}

interface AttemptContext {
  lease: Lease;
  message: OutgoingMessage | null;
  durationMs: number;
}

function outcomeOf(
  failure: SendError,
  { lease, message, durationMs }: AttemptContext,
): AttemptOutcome {
  // Tests are not retried: the user sees the result immediately and can repeat the test.
  const delayMs =
    failure.retryable && !lease.overdue && lease.event !== TEST_EVENT
      ? nextDelayMs(lease.attempts, Math.random, failure.retryAfterMs)
      : null;
  const delivered = [...new Set([...lease.delivered, ...failure.delivered])];
  return {
    status: 'failed',
    error: failure.message,
    sent: delivered.length,
    delivered,
    delaySeconds: delayMs === null ? null : delayMs / 1000,
    message,
    attempt: {
      statusCode: failure.statusCode ?? null,
      detail: failure.detail || failure.message,
      durationMs,
    },
  };
}

/**
 * Returns the state of the destination: up for rejections and rate limits, which are responses;
 * down without a response, or after a timeout or server error that can be retried; otherwise unknown.
 */
function healthAfter(error: unknown): TargetHealth {
  if (!(error instanceof SendError)) return 'unknown';
  const { retryable, statusCode } = error;
  if (!retryable) return statusCode === undefined ? 'unknown' : 'up';
  return statusCode === undefined || statusCode === 408 || statusCode >= 500 ? 'down' : 'up';
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(new StoppedError());
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: settled.signal });
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
  }
}
