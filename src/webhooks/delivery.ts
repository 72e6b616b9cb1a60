import type { WebhookEvent } from '../code-hosts/event.js';
import type { WebhookServiceName } from '../code-hosts/services.js';

export type Verdict = 'accepted' | 'duplicate' | 'ignored' | 'rejected';

/** A delivery whose sender is verified, or that a user sends again. */
export interface IncomingDelivery {
  templateId: number;
  service: WebhookServiceName;
  /** Null when the body could not be read. */
  event: WebhookEvent | null;
  /** Bytes of the body. */
  size: number;
  source: string;
  /** Delivery this one repeats on request of a user. */
  redeliveryOf: number | null;
}

/** What became of it. */
export interface Outcome {
  verdict: Verdict;
  reason: string;
  answer: number;
}

/** Requests without proof of the webhook key; the record shows the newest of those it stands for. */
export interface UnprovedRequests {
  templateId: number;
  service: WebhookServiceName;
  verdict: 'rejected' | 'ignored';
  reason: string;
  event: string;
  answer: number;
  /** Bytes of the body. */
  size: number;
  source: string;
  repeats: number;
}
