import { Socket, isIP } from 'node:net';
import nodemailer from 'nodemailer';
import addressParser from 'nodemailer/lib/addressparser/index.js';
import { resolveAllowed } from '../../outbound/address-guard.js';
import { hasLineBreak } from '../../outbound/header-check.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { messageOf } from '../../common/errors/errors.js';
import { memberOf, textMember } from '../../common/records.js';
import { withTimeout } from '../../common/with-timeout.js';
import {
  SendError,
  type Configuration,
  type NotificationBackend,
  type OutgoingMessage,
  type SendContext,
  type SendResult,
} from './backend.js';
import { flagOf, intOf, configuredListOf } from './configuration-values.js';
import { excerptOf, toSendError } from './http-delivery.js';
import { toSingleLine } from './limits.js';

const FAILURE = 'Error sending notification email';
const CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_TIMEOUT_S = 30;
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'ECONNECTION',
  'ECONNREFUSED',
  'ECONNRESET',
  'ESOCKET',
  'ETIMEDOUT',
  'EDNS',
]);

/** Backend that sends one plain-text mail to all recipients by SMTP, with TLS or STARTTLS, and authenticates. */
export const emailBackend: NotificationBackend = {
  type: 'email',
  label: 'Email',
  recipientKey: 'recipients',
  fields: {
    host: { type: 'string', label: 'Host', peer: true },
    port: { type: 'int', label: 'Port', min: 1, max: 65_535, peer: true },
    username: { type: 'string', label: 'Username', default: '' },
    password: { type: 'password', label: 'Password', default: '' },
    use_tls: { type: 'bool', label: 'Use TLS', peer: true },
    use_ssl: { type: 'bool', label: 'Use SSL', peer: true },
    sender: { type: 'string', label: 'Sender Email' },
    recipients: { type: 'list', label: 'Recipient List' },
    timeout: { type: 'int', label: 'Timeout', default: DEFAULT_TIMEOUT_S, min: 1, max: 120 },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', optional: true, peer: true },
  },
  check: (config) =>
    [textMember(config, 'sender'), ...configuredListOf(config, 'recipients')]
      .filter((text) => !isMailAddress(text))
      .map((text) => `'${text.slice(0, 40)}' is not a valid mail address.`),
  send: async (config, message, context) => {
    if (flagOf(config, 'use_tls') && flagOf(config, 'use_ssl')) {
      throw new SendError(
        `${FAILURE}: use_tls and use_ssl are mutually exclusive, set one of them`,
      );
    }
    assertAddresses([textMember(config, 'sender'), ...configuredListOf(config, 'recipients')]);
    const timeoutMs = (intOf(config, 'timeout') ?? DEFAULT_TIMEOUT_S) * 1000;
    try {
      return await sendMail(config, message, context, timeoutMs);
    } catch (error) {
      if (error instanceof OutboundError) throw toSendError(error, FAILURE);
      throw toMailError(error, textMember(config, 'password'));
    }
  },
};

async function sendMail(
  config: Configuration,
  message: OutgoingMessage,
  context: SendContext,
  timeoutMs: number,
): Promise<SendResult> {
  const host = textMember(config, 'host');
  const connectMs = Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
  const { address } = await resolveAllowed(host, context.http.guard, connectMs);
  const socket = new Socket();
  const transport = nodemailer.createTransport({
    ...transportOptions(config, timeoutMs),
    // The checked address, because a host name would be resolved again.
    host: address,
    socket,
    connectionTimeout: connectMs,
  });
  // The library limits each period without data but not the whole transfer, so the timeout disconnects
  // slow servers.
  const expire = (): OutboundError => {
    socket.destroy();
    return new OutboundError('timeout', 'no response in time');
  };
  try {
    const sending = transport.sendMail(mailOf(config, message, context));
    const info = await withTimeout(sending, timeoutMs, expire);
    const refused = info.rejected.length;
    return {
      sent: 1,
      detail: excerptOf(
        `${info.response}${refused > 0 ? ` Refused recipients: ${info.rejected.join(', ')}` : ''}`,
        [],
      ),
    };
  } finally {
    socket.destroySoon();
    transport.close();
  }
}

function transportOptions(config: Configuration, timeoutMs: number) {
  const host = textMember(config, 'host');
  const user = textMember(config, 'username');
  const pass = textMember(config, 'password');
  return {
    port: intOf(config, 'port') ?? 25,
    secure: flagOf(config, 'use_ssl'),
    requireTLS: flagOf(config, 'use_tls'),
    ignoreTLS: !flagOf(config, 'use_tls'),
    ...(isIP(host) ? {} : { servername: host }),
    tls: { rejectUnauthorized: !flagOf(config, 'no_verify_ssl') },
    ...(user && pass ? { auth: { user, pass } } : {}),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function mailOf(config: Configuration, message: OutgoingMessage, context: SendContext) {
  const sender = textMember(config, 'sender');
  const domain = /@([a-z0-9.-]+)>?$/i.exec(sender.trim())?.[1] ?? 'localhost';
  return {
    from: mailboxOf(sender),
    to: configuredListOf(config, 'recipients').map(mailboxOf),
    subject: toSingleLine(message.subject),
    text: message.text,
    messageId: `<${context.messageId}@${domain}>`,
    date: context.now(),
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

/** Returns true for a mailbox of the mail server itself, such as `root`. */
const isLocalMailbox = (text: string): boolean => /^[^\s@<>()[\]",;:\\]+$/.test(text);

/**
 * Wraps a local mailbox, because the library parses a text without a domain as a name and would send
 * no email.
 */
const mailboxOf = (text: string): string | { name: string; address: string } =>
  isLocalMailbox(text) ? { name: '', address: text } : text;

/**
 * Returns true if every part contains an address. The library silently drops other parts.
 */
function isMailAddress(text: string): boolean {
  if (isLocalMailbox(text)) return true;
  const found = addressParser(text, { flatten: true });
  return found.length > 0 && found.every(({ address }) => address.includes('@'));
}

function assertAddresses(addresses: readonly string[]): void {
  if (addresses.some(hasLineBreak)) {
    throw new SendError(`${FAILURE}: an address contains a line break`);
  }
}

/**
 * Converts an SMTP error. A 4xx reply of SMTP is transient by definition, a 5xx reply permanent.
 */
function toMailError(error: unknown, password: string): SendError {
  const message = messageOf(error);
  // The SMTP reply code, if the server sent one.
  const status = memberOf(error, 'responseCode');
  const certificateFault = /certificate|self[- ]signed/i.test(message);
  const retryable =
    typeof status === 'number'
      ? status >= 400 && status <= 499
      : TRANSIENT_CODES.has(String(memberOf(error, 'code'))) && !certificateFault;
  return new SendError(
    `${FAILURE}: ${excerptOf(message, [password])}`,
    { retryable, ...(typeof status === 'number' ? { statusCode: status } : {}) },
    { cause: error },
  );
}
