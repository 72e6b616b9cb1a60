import type { OutboundClient } from '../../outbound/outbound-client.js';
import { storableText, withoutTrailing } from '../../common/fields/text.js';
import type { NotificationType } from './notification-type.js';

/** Type names in error texts and OPTIONS; `password` is a string that is kept secret. */
export type FieldType = 'string' | 'int' | 'bool' | 'list' | 'password' | 'object';

/** One key of `notification_configuration` (docs/contract/notifications.md#configuration). */
export interface ConfigurationField {
  readonly type: FieldType;
  readonly label: string;
  /** Value that is stored if the key is absent. */
  readonly default?: string | number | boolean;
  /** Choices in forms. */
  readonly choices?: readonly string[];
  /** True if the key is validated but neither required nor set by default. */
  readonly optional?: true;
  /** Second accepted type of the value. */
  readonly accepts?: FieldType;
  readonly min?: number;
  readonly max?: number;
  /** True for the URL of requests: it must be http or https, and its path is a secret. */
  readonly url?: true;
  /**
   * True if the value, like a URL, determines the peer that receives the secrets. The secrets must be
   * entered again when the value changes.
   */
  readonly peer?: true;
}

/** A validated configuration with decrypted secrets. */
export type Configuration = Readonly<Record<string, unknown>>;

/** The message to send, as built by `composeMessage`. */
export interface OutgoingMessage {
  /** Text of one line: subject, title or chat text. */
  readonly subject: string;
  /** Body that the record stores; always an object. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The rendered body: email text or webhook JSON. Empty for channels without a body. */
  readonly text: string;
}

export interface SendContext {
  readonly http: OutboundClient;
  readonly urls: ServiceUrls;
  /** Event that triggered the notification, or `test`. */
  readonly event: string;
  /** Template of the reported run; null without a template. */
  readonly runTemplateId: number | null;
  /**
   * Id that is the same for all attempts of one record, so that receivers can drop duplicates.
   */
  readonly messageId: string;
  /** Targets that earlier attempts reached; the message is not sent to them again. */
  readonly delivered: readonly string[];
  /** Stores the targets reached so far, in case the process dies before the end of the attempt. */
  readonly keepDelivered: (targets: readonly string[]) => Promise<void>;
  readonly now: () => Date;
}

/** Result of a complete success. */
export interface SendResult {
  /** Total number of sent notifications, including those of earlier attempts. */
  readonly sent: number;
  /** Text for the attempt log; contains no secrets. */
  readonly detail: string;
  readonly statusCode?: number;
}

/** Data of a failure that determines or documents further attempts. */
export interface SendFailure {
  /** True if a further attempt can succeed. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly statusCode?: number;
  /** Targets reached so far, for the next attempt. */
  readonly delivered?: readonly string[];
  /** Beginning of the service's response, for the attempt log. */
  readonly detail?: string;
}

/**
 * Error of a failed attempt. `message` is stored in the record, `detail` in the attempt log;
 * neither contains secrets. Both can quote a service, so characters that the database rejects are
 * removed: a failure that cannot be stored would be retried forever.
 */
export class SendError extends Error {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly statusCode: number | undefined;
  readonly delivered: readonly string[];
  readonly detail: string;

  constructor(message: string, failure: SendFailure = {}, options?: ErrorOptions) {
    super(storableText(message), options);
    this.name = 'SendError';
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs;
    this.statusCode = failure.statusCode;
    this.delivered = failure.delivered ?? [];
    this.detail = storableText(failure.detail ?? '');
  }
}

/** A notification channel: its configuration keys and its implementation. */
export interface NotificationBackend {
  readonly type: NotificationType;
  readonly label: string;
  readonly fields: Readonly<Record<string, ConfigurationField>>;
  /** Key that names the recipients; records show its value. */
  readonly recipientKey: string;
  /**
   * Returns errors that the field table cannot express, as contract texts. Called only with values of
   * the correct type.
   */
  check?(config: Configuration): string[];
  /** Throws SendError; any other error is a bug. */
  send(config: Configuration, message: OutgoingMessage, context: SendContext): Promise<SendResult>;
}

/** Base URLs of services with one fixed address for all customers. */
export interface ServiceUrls {
  readonly chatA: string;
  readonly smsA: string;
  readonly incidentA: string;
}

/** Joins a base URL of the settings, with or without a trailing slash, and an absolute path. */
export function joinUrl(base: string, path: string): string {
  return `${withoutTrailing(base, '/')}${path}`;
}
