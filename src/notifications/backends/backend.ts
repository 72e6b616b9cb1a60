import type { OutboundClient } from '../../common/outbound/outbound-client.js';
import { storableText } from '../message/storable.js';
import type { NotificationType } from './notification-type.js';
import type { ServiceUrls } from './service-urls.js';

/** Type names as the error texts and OPTIONS show them; `password` is a string kept secret. */
export type FieldType = 'string' | 'int' | 'bool' | 'list' | 'password' | 'object';

/** One key of `notification_configuration` (docs/contract/notifications.md#configuration). */
export interface ConfigurationField {
  readonly type: FieldType;
  readonly label: string;
  /** Filled in when the key is absent. */
  readonly default?: string | number | boolean;
  /** Accepted and checked, but neither demanded nor filled in. */
  readonly optional?: true;
  /** A second type the value may have. */
  readonly accepts?: FieldType;
  readonly min?: number;
  readonly max?: number;
  /** The value is called as a URL: must be http or https, and holds a secret in its path. */
  readonly url?: true;
  /** Decides, as a URL does, who receives the secrets: they are given anew when it changes. */
  readonly aims?: true;
}

/** A validated configuration with its secrets in clear. */
export type Configuration = Readonly<Record<string, unknown>>;

/** What is sent, as `composeMessage` made it. */
export interface OutgoingMessage {
  /** One line: subject, title or chat text. */
  readonly subject: string;
  /** What the record stores; always an object. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The rendered body exactly as written: mail text, webhook JSON. Empty for kinds without one. */
  readonly text: string;
}

/** Surroundings of one attempt. */
export interface SendContext {
  readonly http: OutboundClient;
  readonly urls: ServiceUrls;
  /** What fired it: an event, or `test`. */
  readonly event: string;
  /** Template whose run it tells of; null where there is none. */
  readonly runTemplateId: number | null;
  /** The same for every attempt of one record, so that a receiver can drop repetitions. */
  readonly messageId: string;
  /** Targets that earlier attempts reached; they are not sent to again. */
  readonly delivered: readonly string[];
  readonly now: () => Date;
}

/** A complete success. */
export interface SendResult {
  /** Notifications sent in all, earlier attempts included. */
  readonly sent: number;
  /** For the attempt log; holds no secret. */
  readonly detail: string;
  readonly statusCode?: number;
}

/** Facts of a failure that the notifier stores or decides by. */
export interface SendFailure {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly statusCode?: number;
  /** Targets reached so far, to be handed to the next attempt. */
  readonly delivered?: readonly string[];
  /** Start of the service's answer, for the attempt log. */
  readonly detail?: string;
}

/**
 * A failed attempt. `message` goes into the record, `detail` into the log of attempts; neither holds
 * a secret. Both may quote a service, so they lose what the database refuses: a failure that cannot
 * be written down would be tried again for ever.
 */
export class SendError extends Error {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly statusCode: number | undefined;
  readonly delivered: readonly string[];
  readonly detail: string;

  constructor(message: string, failure: SendFailure, options?: ErrorOptions) {
    super(storableText(message), options);
    this.name = 'SendError';
    this.retryable = failure.retryable;
    this.retryAfterMs = failure.retryAfterMs;
    this.statusCode = failure.statusCode;
    this.delivered = failure.delivered ?? [];
    this.detail = storableText(failure.detail ?? '');
  }
}

/** One kind of notification: its configuration keys and how it is sent. */
export interface NotificationBackend {
  readonly type: NotificationType;
  readonly label: string;
  readonly fields: Readonly<Record<string, ConfigurationField>>;
  /** The key that names where notifications go; its value is what records show. */
  readonly recipientKey: string;
  /** Faults beyond the field table, as contract texts; called with well-typed values only. */
  check?(config: Configuration): string[];
  /** Throws SendError; anything else thrown is a bug. */
  send(config: Configuration, message: OutgoingMessage, context: SendContext): Promise<SendResult>;
}
