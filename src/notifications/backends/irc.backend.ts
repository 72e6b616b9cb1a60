import { textMember } from '../../common/records.js';
import { resolveAllowed } from '../../outbound/address-guard.js';
import { SendError } from './backend.js';
import type { Configuration, NotificationBackend, SendContext, SendResult } from './backend.js';
import { flagOf, intOf, configuredListOf } from './configuration-values.js';
import { toSendError } from './http-delivery.js';
import { IrcSession, type IrcLine } from './irc-session.js';
import { toSingleLine, truncateBytes } from './limits.js';

const FAILURE = 'Error sending notification irc';
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * Timeout of the whole session, in ms. Registration is slow, because servers look up the client
 * first (docs/contract/notifications.md#wire-formats).
 */
const GIVE_UP_MS = 60_000;
/**
 * Maximum length of a text in bytes. Of the protocol's 512 bytes per line, the server needs some
 * for its own prefix.
 */
const MAX_TEXT_BYTES = 400;
const MAX_NICK_ATTEMPTS = 3;

const NICK_TAKEN: ReadonlySet<string> = new Set(['433', '436']);
/** Replies that refuse a JOIN or a PRIVMSG; their second parameter is the target. */
const TARGET_REFUSALS = /^(401|403|404|405|411|412|437|471|473|474|475|476|477|489)$/;
const REGISTRATION_REFUSALS = /^(432|451|462|463|464|465)$/;

interface IrcMessage {
  readonly nick: string;
  readonly target: string;
  readonly text: string;
}

/** Backend that sends lines to channels, after joining them, and to nicknames, over TCP or TLS. */
export const ircBackend: NotificationBackend = {
  type: 'irc',
  label: 'IRC',
  recipientKey: 'targets',
  fields: {
    server: { type: 'string', label: 'IRC Server Address', peer: true },
    port: { type: 'int', label: 'IRC Server Port', min: 1, max: 65_535, peer: true },
    nickname: { type: 'string', label: 'IRC Nick' },
    password: { type: 'password', label: 'IRC Server Password' },
    use_ssl: { type: 'bool', label: 'SSL Connection', peer: true },
    targets: { type: 'list', label: 'Destination Channels or Users' },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', optional: true, peer: true },
  },
  check: (config) =>
    [...configuredListOf(config, 'targets'), textMember(config, 'nickname')]
      .filter((name) => !isName(name))
      .map((name) => `'${name.slice(0, 40)}' is not a valid IRC channel or nickname.`),
  send: async (config, message, context) => {
    const done = new Set(context.delivered);
    const refused: string[] = [];
    const targets = [...new Set(configuredListOf(config, 'targets'))];
    try {
      const session = await open(config, context);
      try {
        const deadline = Date.now() + GIVE_UP_MS;
        const nick = await register(session, config, deadline);
        const text = truncateBytes(toSingleLine(message.subject), MAX_TEXT_BYTES);
        for (const target of targets.filter((name) => !done.has(name))) {
          const isSent = await sendTo(session, { nick, target, text }, deadline);
          if (isSent) {
            done.add(target);
            await context.keepDelivered([...done]);
          } else refused.push(target);
        }
        session.send('QUIT :');
      } finally {
        session.close();
      }
    } catch (error) {
      throw withDelivered(toSendError(error, FAILURE), [...done]);
    }
    return resultOf(targets, [...done], refused);
  },
};

async function open(config: Configuration, context: SendContext): Promise<IrcSession> {
  const host = textMember(config, 'server');
  const { address } = await resolveAllowed(host, context.http.guard, CONNECT_TIMEOUT_MS);
  return IrcSession.open({
    address,
    host,
    port: intOf(config, 'port') ?? 6667,
    tls: flagOf(config, 'use_ssl'),
    verifyTls: !flagOf(config, 'no_verify_ssl'),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
}

/** Logs in and returns the nickname that the server accepted. */
async function register(
  session: IrcSession,
  config: Configuration,
  deadline: number,
): Promise<string> {
  const wanted = textMember(config, 'nickname');
  const password = textMember(config, 'password');
  if (![wanted, password].every(isLineSafe)) {
    throw new SendError(`${FAILURE}: nickname or password contains a line break`);
  }
  // A parameter with spaces, or with a colon at its start, needs the mark of the last parameter.
  if (password) session.send(`PASS ${/^:| /.test(password) ? ':' : ''}${password}`);
  session.send(`NICK ${wanted}`);
  session.send(`USER ${wanted} 0 * :${wanted}`);
  for (let attempts = 1; ;) {
    const line = await session.next(deadline);
    if (line.command === '001') return line.parameters[0] ?? wanted;
    if (NICK_TAKEN.has(line.command) && attempts < MAX_NICK_ATTEMPTS) {
      session.send(`NICK ${wanted}${'_'.repeat(attempts++)}`);
    } else if (REGISTRATION_REFUSALS.test(line.command) || NICK_TAKEN.has(line.command)) {
      throw new SendError(`${FAILURE}: the server refused the login (${line.command})`, {
        // A nickname in use can belong to an earlier session of the controller that the server has
        // not closed yet.
        retryable: NICK_TAKEN.has(line.command),
      });
    }
  }
}

/**
 * Joins the target if it is a channel, sends the message and a PING, and waits for the reply to the
 * PING, which proves that the server has processed the message. Returns false if the server rejects
 * the join or the text.
 */
async function sendTo(session: IrcSession, line: IrcMessage, deadline: number): Promise<boolean> {
  const { nick, target, text } = line;
  if (!isName(target)) return false;
  const refuses = ({ command, parameters }: IrcLine): boolean =>
    TARGET_REFUSALS.test(command) && isSame(parameters[1], target);
  if (target.startsWith('#')) {
    session.send(`JOIN ${target}`);
    const joined = await session.readUntil(
      ({ command, source, parameters }) =>
        command === 'JOIN' && source === nick && isSame(parameters[0], target),
      refuses,
      deadline,
    );
    if (!joined) return false;
  }
  session.send(`PRIVMSG ${target} :${text}`);
  // The echo names the target: after a refusal, the echo of an earlier target is still to come.
  session.send(`PING :${target}`);
  return session.readUntil(
    ({ command, parameters }) => command === 'PONG' && parameters.at(-1) === target,
    refuses,
    deadline,
  );
}

function resultOf(targets: string[], delivered: string[], refused: string[]): SendResult {
  if (refused.length > 0) {
    const count = `Sent to ${delivered.length} of ${targets.length}.`;
    throw new SendError(`${FAILURE}: the server refused ${refused.join(', ')}. ${count}`, {
      delivered,
    });
  }
  return { sent: delivered.length, detail: `Sent to ${delivered.length} of ${targets.length}.` };
}

function withDelivered(error: unknown, delivered: string[]): unknown {
  if (!(error instanceof SendError)) return error;
  const { message, retryable } = error;
  return new SendError(message, { retryable, delivered }, { cause: error });
}

function isSame(name: string | undefined, target: string): boolean {
  return name?.toLowerCase() === target.toLowerCase();
}

function isLineSafe(text: string): boolean {
  return !/[\r\n\0]/.test(text);
}

/**
 * Returns true for a channel or nickname that cannot be read as two words, a list or a trailing
 * parameter.
 */
function isName(name: string): boolean {
  return name.length <= 64 && /^[^\s,:\u0000-\u001f][^\s,\u0000-\u001f]*$/.test(name);
}
