import { createHmac } from 'node:crypto';
import { textMember } from '../../common/records.js';
import { faultOfHeader } from '../../outbound/header-check.js';
import { maskUrl, secretsInUrl } from '../../outbound/mask.js';
import { basicAuthorization } from '../../outbound/outbound-client.js';
import { RedirectLimitError } from '../../outbound/outbound-error.js';
import { SendError } from './backend.js';
import type { Configuration, NotificationBackend, SendContext } from './backend.js';
import { configuredHeaders, flagOf } from './configuration-values.js';
import { deliverOnce } from './http-delivery.js';
import { messageOf } from '../../common/errors/errors.js';

const FAILURE = 'Error sending webhook notification';
const SECRET_PREFIX = 'whsec_';

/** Backend that sends the rendered JSON body to any URL, optionally signed. */
export const webhookBackend: NotificationBackend = {
  type: 'webhook',
  label: 'Webhook',
  recipientKey: 'url',
  fields: {
    url: { type: 'string', label: 'Target URL', url: true },
    http_method: {
      type: 'string',
      label: 'HTTP Method',
      default: 'POST',
      choices: ['POST', 'PUT'],
    },
    disable_ssl_verification: {
      type: 'bool',
      label: 'Disable SSL Verification',
      default: false,
      peer: true,
    },
    username: { type: 'string', label: 'Username', default: '' },
    password: { type: 'password', label: 'Password', default: '' },
    headers: { type: 'object', label: 'HTTP Headers' },
    signing_secret: { type: 'password', label: 'Signing Secret', optional: true },
  },
  check: (config) => [
    ...(/^(POST|PUT)$/i.test(textMember(config, 'http_method'))
      ? []
      : ["HTTP method must be either 'POST' or 'PUT'."]),
    ...Object.entries(configuredHeaders(config)).flatMap(([name, value]) => {
      const fault = faultOfHeader(name, value);
      return fault ? [`Configuration field 'headers' is not valid: ${fault}.`] : [];
    }),
    ...(isSigningSecret(textMember(config, 'signing_secret'))
      ? []
      : [
          `Configuration field 'signing_secret' is not valid: '${SECRET_PREFIX}' must be followed by a key in Base64.`,
        ]),
  ],
  send: async (config, message, context) => {
    assertJson(message.text);
    try {
      return await deliverOnce(context, {
        failure: FAILURE,
        secrets: secretsOf(config),
        request: {
          method: textMember(config, 'http_method').toUpperCase() === 'PUT' ? 'PUT' : 'POST',
          url: textMember(config, 'url'),
          headers: headersOf(config, message.text, context),
          body: message.text,
          verifyTls: !flagOf(config, 'disable_ssl_verification'),
          redirects: 'same-host',
        },
      });
    } catch (error) {
      throw limitErrorOf(error, textMember(config, 'url')) ?? error;
    }
  },
};

/**
 * Returns true for a usable secret. Text that is not Base64 would decode to an empty key, which
 * everyone knows.
 */
function isSigningSecret(secret: string): boolean {
  if (!secret.startsWith(SECRET_PREFIX)) return true;
  const encoded = secret.slice(SECRET_PREFIX.length);
  return /^[A-Za-z0-9+/]{2,}={0,2}$/.test(encoded);
}

/**
 * Returns the signature headers of the Standard Webhooks specification: HMAC SHA-256 over id, time
 * and body. A secret of the form `whsec_<base64>` is decoded; the bytes of any other secret are
 * used. The id is the same for every attempt, so that the receiver can drop duplicates.
 */
export function signatureHeaders(
  secret: string,
  body: string,
  messageId: string,
  now: Date,
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
  const digest = createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`);
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${digest.digest('base64')}`,
  };
}

function headersOf(
  config: Configuration,
  body: string,
  context: SendContext,
): Record<string, string> {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['webhook-id', context.messageId],
  ]);
  const set = (entries: Record<string, string>): void => {
    for (const [name, value] of Object.entries(entries)) headers.set(name.toLowerCase(), value);
  };
  set(configuredHeaders(config));
  const username = textMember(config, 'username');
  const password = textMember(config, 'password');
  if (username || password) set({ authorization: basicAuthorization(username, password) });
  const secret = textMember(config, 'signing_secret');
  if (secret) set(signatureHeaders(secret, body, context.messageId, context.now()));
  return Object.fromEntries(headers);
}

function secretsOf(config: Configuration): string[] {
  const password = textMember(config, 'password');
  return [
    password,
    basicAuthorization(textMember(config, 'username'), password),
    ...secretsInUrl(textMember(config, 'url')),
    textMember(config, 'signing_secret'),
    ...Object.values(configuredHeaders(config)),
    // Short header values such as "1" are not secrets, and masking them would garble the text.
  ].filter((secret) => secret.length >= 6);
}

/** Checks that a text is JSON of any type; the content type would be wrong for other text. */
function assertJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    throw new SendError(`${FAILURE}: the rendered body is not valid JSON (${reason})`);
  }
}

function limitErrorOf(error: unknown, url: string): SendError | null {
  if (!(error instanceof SendError) || !(error.cause instanceof RedirectLimitError)) return null;
  return new SendError(
    `Webhook notification max number of retries [${error.cause.limit}] exceeded. ` +
      `Failed to send webhook notification to ${maskUrl(url)}`,
    {},
    { cause: error },
  );
}
