import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { OutboundError } from '../../common/outbound/outbound-error.js';
import { translateError } from '../../common/outbound/translate-error.js';

/** One line of the server, taken apart. */
export interface IrcLine {
  /** Nickname or server name that said it; "" when none is given. */
  readonly source: string;
  /** Upper-case word or three digits. */
  readonly command: string;
  readonly parameters: readonly string[];
}

export interface IrcAddress {
  /** The checked address to connect to. */
  readonly address: string;
  readonly port: number;
  /** The configured name, for the certificate. */
  readonly host: string;
  readonly tls: boolean;
  readonly verifyTls: boolean;
  readonly connectTimeoutMs: number;
}

/** A server never sends longer lines (512 bytes, with tags 8191); more is no IRC. */
const MAX_PENDING = 16_384;

/**
 * A connection that speaks in lines. Reading is by `next`, one line at a time; PING is answered
 * on the way. All faults of the socket surface from `next` as OutboundErrors.
 */
export class IrcSession {
  private readonly lines: IrcLine[] = [];
  private pending = '';
  private failure: OutboundError | null = null;
  private wake: (() => void) | null = null;

  private constructor(
    private readonly socket: Socket,
    target: string,
  ) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.receive(chunk, target));
    socket.on('error', (error) => this.fail(translateError(error, target)));
    socket.on('close', () =>
      this.fail(new OutboundError('reset', `${target}: connection closed.`)),
    );
  }

  /** Connects; throws OutboundError. */
  static async open(to: IrcAddress): Promise<IrcSession> {
    const target = `${to.host}:${to.port}`;
    const options = { host: to.address, port: to.port };
    const socket = to.tls
      ? connectTls({ ...options, servername: serverName(to), rejectUnauthorized: to.verifyTls })
      : connectTcp(options);
    const session = new IrcSession(socket, target);
    const timer = setTimeout(() => {
      session.fail(new OutboundError('timeout', `${target}: no connection in time.`));
    }, to.connectTimeoutMs);
    socket.once(to.tls ? 'secureConnect' : 'connect', () => session.signal());
    await session.sleep();
    clearTimeout(timer);
    if (session.failure) {
      session.close();
      throw session.failure;
    }
    return session;
  }

  send(line: string): void {
    if (this.socket.writable) this.socket.write(`${line}\r\n`);
  }

  /** The next line. Throws OutboundError when the connection ends or `deadline` (ms) passes. */
  async next(deadline: number): Promise<IrcLine> {
    for (;;) {
      // Before anything else, or a server that never stops talking would never be given up.
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw new OutboundError('timeout', 'no answer in time');
      const line = this.lines.shift();
      if (line) return line;
      if (this.failure) throw this.failure;
      const timer = setTimeout(() => this.signal(), remaining);
      await this.sleep();
      clearTimeout(timer);
    }
  }

  /** Reads on to the first line that `accepts` (true) or `refuses` (false) matches. */
  async until(
    accepts: (line: IrcLine) => boolean,
    refuses: (line: IrcLine) => boolean,
    deadline: number,
  ): Promise<boolean> {
    for (;;) {
      const line = await this.next(deadline);
      if (accepts(line)) return true;
      if (refuses(line)) return false;
    }
  }

  /** Ends the connection after what was written has left. */
  close(): void {
    if (this.socket.connecting) this.socket.destroy();
    else this.socket.destroySoon();
  }

  private receive(chunk: string, target: string): void {
    const parts = (this.pending + chunk).split(/\r?\n/);
    this.pending = parts.pop() ?? '';
    if (this.pending.length > MAX_PENDING) {
      this.fail(new OutboundError('too_large', `${target}: the answer is no IRC.`));
      this.close();
      return;
    }
    for (const part of parts) {
      const line = parseLine(part);
      if (line.command === 'PING') this.send(`PONG :${line.parameters.at(-1) ?? ''}`);
      else if (line.command) this.lines.push(line);
    }
    this.signal();
  }

  private fail(error: OutboundError): void {
    this.failure ??= error;
    this.signal();
  }

  private signal(): void {
    this.wake?.();
    this.wake = null;
  }

  private sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

/** Takes `:source COMMAND a b :rest of the line` apart; tags are dropped. */
export function parseLine(text: string): IrcLine {
  const match = /^(?:@\S+ +)?(?::(\S+) +)?(\S+)?(.*)$/.exec(text);
  const [, prefix = '', command = '', tail = ''] = match ?? [];
  const [middle = '', trailing] = splitOnce(tail, ' :');
  const parameters = middle.split(' ').filter((word) => word !== '');
  if (trailing !== undefined) parameters.push(trailing);
  return { source: prefix.split('!', 1)[0] ?? '', command: command.toUpperCase(), parameters };
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Names only: the protocol has no server name for plain addresses. */
function serverName(to: IrcAddress): string {
  return to.host === to.address ? '' : to.host;
}
