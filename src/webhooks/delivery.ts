import type { WebhookEvent } from '../code-hosts/event.js';
import type { WebhookServiceName } from '../code-hosts/services.js';

export type Verdict = 'accepted' | 'duplicate' | 'ignored' | 'rejected';

/** A delivery from a verified sender, or a redelivery by a user. */
export interface IncomingDelivery {
  templateId: number;
  service: WebhookServiceName;
  /** Parsed event; null if the body could not be parsed. */
  event: WebhookEvent | null;
  /** Size of the body in bytes. */
  size: number;
  source: string;
  /** Id of the redelivered delivery; null for a delivery of a sender. */
  redeliveryOf: number | null;
}

export interface DeliveryOutcome {
  verdict: Verdict;
  reason: string;
  /** Status of the response. */
  answer: number;
}

/**
 * Requests without a valid signature. `repeats` counts the requests; the other members are those of the
 * newest request.
 */
export interface UnverifiedRequests {
  templateId: number;
  service: WebhookServiceName;
  verdict: 'rejected' | 'ignored';
  reason: string;
  event: string;
  answer: number;
  /** Size of the body in bytes. */
  size: number;
  source: string;
  repeats: number;
}
