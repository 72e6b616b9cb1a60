import type { OutgoingMessage } from './backends/backend.js';
import type { NotificationType } from './backends/notification-type.js';
import type { Messages } from './message/message-events.js';

/** One attempt to send a notification, leased by this process. */
export interface Lease {
  id: number;
  /** Attempt number; every later update must match it. */
  attempts: number;
  event: string;
  message_id: string;
  delivered: string[];
  subject: string;
  body: Record<string, unknown>;
  text: string | null;
  unified_job_id: number | null;
  run_template_id: number | null;
  notification_type: NotificationType;
  notification_template_id: number;
  notification_configuration: Record<string, unknown>;
  messages: Messages | null;
  /** True if the notification is too old to be retried after another failure. */
  overdue: boolean;
}

/** Result of an attempt. */
export interface AttemptOutcome {
  status: 'successful' | 'failed';
  error: string;
  sent: number;
  delivered: readonly string[];
  /** Delay before the next attempt, in seconds; null if none is planned. */
  delaySeconds: number | null;
  /** Message; null if rendering failed. */
  message: OutgoingMessage | null;
  attempt: { statusCode: number | null; detail: string; durationMs: number };
}

/** An attempt with its result. */
export interface CompletedAttempt {
  lease: Lease;
  outcome: AttemptOutcome;
}

/** An unfinished notification. */
export interface NotificationTarget {
  id: number;
  destination: string;
  /** True if the notification can be sent now. */
  due: boolean;
  /**
   * Seconds until the next attempt of an earlier notification of the same incident that failed, if the
   * notification could be sent otherwise; null if it need not wait for this attempt.
   */
  wait_seconds: number | null;
  /** True if a user requested the notification and waits for its result. */
  is_test: boolean;
}

/** Result of a postponement; `planned` is false if no further attempt follows. */
export interface PostponeResult {
  planned: boolean;
}
