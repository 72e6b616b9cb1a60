import type { OutgoingMessage } from './backends/backend.js';
import type { NotificationType } from './backends/notification-type.js';
import type { Messages } from './message/message-events.js';

/** One attempt at one notification, held by this process. */
export interface Lease {
  id: number;
  /** Number of the attempt; every later step names it. */
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
  /** Whether it has been tried for so long that a failure is final. */
  overdue: boolean;
}

/** What came of an attempt. */
export interface Outcome {
  status: 'successful' | 'failed';
  error: string;
  sent: number;
  delivered: readonly string[];
  /** Wait before the next attempt; null when none is planned. */
  delaySeconds: number | null;
  /** Absent when no message could be made. */
  message: OutgoingMessage | null;
  attempt: { statusCode: number | null; detail: string; durationMs: number };
}

/** An attempt and what came of it. */
export interface Settlement {
  lease: Lease;
  outcome: Outcome;
}

/** Where a notification goes and whether it is its turn. */
export interface Target {
  id: number;
  destination: string;
  due: boolean;
  /** Asked for by somebody who waits for what comes of it. */
  is_test: boolean;
}

/** A notification that is put off; not planned: it is given up. */
export interface Postponed {
  planned: boolean;
}
