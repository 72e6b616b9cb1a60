import {
  SendError,
  type Configuration,
  type NotificationBackend,
  type SendContext,
  joinUrl,
} from './backend.js';
import { configuredListOf } from './configuration-values.js';
import { sendToEach } from './each-target.js';
import { deliver, excerptOf, retryAfterOf } from './http-delivery.js';
import { truncateText } from '../../common/fields/text.js';
import { isRecord, textMember } from '../../common/records.js';

const FAILURE = 'Error sending notification chat_a';
const MAX_TEXT = 40_000;

/** Error codes for problems of the service, not of the request. */
const TRANSIENT_ERRORS: ReadonlySet<string> = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);

/**
 * Backend that sends bot messages to channels, one request per channel; threads are written as
 * `channel,thread_ts`.
 */
export const chatABackend: NotificationBackend = {
  type: 'chat_a',
  label: 'Slack',
  recipientKey: 'channels',
  fields: {
    token: { type: 'password', label: 'Token' },
    channels: { type: 'list', label: 'Destination Channels' },
    hex_color: { type: 'string', label: 'Notification Color', optional: true },
  },
  send: (config, message, context) =>
    sendToEach(configuredListOf(config, 'channels'), context, (channel) =>
      post(config, truncateText(message.subject, MAX_TEXT), channel, context),
    ),
};

async function post(
  config: Configuration,
  text: string,
  target: string,
  context: SendContext,
): Promise<void> {
  const token = textMember(config, 'token');
  const response = await deliver(context, {
    failure: FAILURE,
    secrets: [token],
    request: {
      method: 'POST',
      url: joinUrl(context.urls.chatA, '/api/chat.postMessage'),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json;charset=utf-8',
      },
      body: JSON.stringify(payloadOf(target, text, textMember(config, 'hex_color'))),
    },
  });
  const error = errorIn(response.body, [token]);
  if (error !== null) {
    throw new SendError(`${FAILURE}: ${error}`, {
      retryable: TRANSIENT_ERRORS.has(error),
      statusCode: response.status,
      ...retryAfterOf(response, context),
    });
  }
}

function payloadOf(target: string, text: string, color: string): object {
  const [channel = '', thread] = target.split(',', 2).map((part) => part.trim());
  const address = {
    channel: channel.replace(/^#/, ''),
    ...(thread ? { thread_ts: thread } : {}),
    as_user: true,
  };
  const isColor = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(color);
  return isColor ? { ...address, attachments: [{ color, text }] } : { ...address, text };
}

/**
 * Returns the error in a response body; null if there is none. The service also rejects requests
 * with status 200; `ok` is then false.
 */
function errorIn(body: string, secrets: readonly string[]): string | null {
  // The response quotes the message, so the end of a long one was not read.
  if (/^\{"ok": ?true[,}]/.test(body)) return null;
  try {
    const parsed: unknown = JSON.parse(body);
    const { ok, error }: Record<string, unknown> = isRecord(parsed) ? parsed : {};
    if (ok === true) return null;
    return typeof error === 'string' ? excerptOf(error, secrets).slice(0, 100) : 'unknown_error';
  } catch {
    return 'the response is not JSON';
  }
}
