import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { OutboundError, translateError } from '../../outbound/outbound-error.js';

/** One parsed line of the server. */
export interface IrcLine {
  /** Nickname or server name of the sender; "" if missing. */
  readonly source: string;
  /** Upper-case command, or three digits. */
  readonly command: string;
  readonly parameters: readonly string[];
}

export interface IrcAddress {
  /** Checked address to connect to. */
  readonly address: string;
  readonly port: number;
  /** Configured host name, for the certificate. */
  readonly host: string;
  readonly tls: boolean;
  readonly verifyTls: boolean;
  readonly connectTimeoutMs: number;
}

/** Maximum length of unparsed input. IRC lines are shorter (512 bytes, with tags 8191). */
const MAX_PENDING = 16_384;
/** Maximum number of bytes that the server has not read. Clients send a few hundred bytes. */
const MAX_UNSENT = 65_536;
/** Maximum number of lines that are not processed yet. A greeting has some hundred lines. */
const MAX_LINES = 10_000;
/** Time after which `close` drops data that the server has not read, in ms. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * A connection that transfers lines. `next` reads one line at a time; PING is answered
 * automatically. All socket errors are thrown by `next` as OutboundErrors.
 */
export class IrcSession {
  private readonly lines: IrcLine[] = [];
  private pending = '';
  private failure: OutboundError | null = null;
  private wake: (() => void) | null = null;
  private isClosed = false;

  private constructor(
    private readonly socket: Socket,
    private readonly target: string,
  ) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.receive(chunk));
    socket.on('error', (error) => this.fail(translateError(error, target)));
    socket.on('close', () =>
      this.fail(new OutboundError('reset', `${target}: connection closed.`)),
    );
  }

  /**
   * Opens a connection.
   *
   * @throws OutboundError
   */
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
    if (!this.socket.writable) return;
    if (this.socket.writableLength > MAX_UNSENT) this.abort('the server does not read.');
    else this.socket.write(`${line}\r\n`);
  }

  /**
   * Returns the next line.
   *
   * @throws OutboundError when the connection ends or `deadline` (ms since the epoch) passes
   */
  async next(deadline: number): Promise<IrcLine> {
    for (;;) {
      // Checked first, so that the deadline also ends a session whose server never stops sending lines.
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw new OutboundError('timeout', 'no response in time');
      const line = this.lines.shift();
      if (line) return line;
      if (this.failure) throw this.failure;
      const timer = setTimeout(() => this.signal(), remaining);
      await this.sleep();
      clearTimeout(timer);
    }
  }

  /**
   * Reads until the first line that matches `accepts` (returns true) or `refuses` (returns false).
   */
  async readUntil(
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

  /** Closes the connection after all written data was sent, at most some seconds later. */
  close(): void {
    this.isClosed = true;
    if (this.socket.connecting) this.socket.destroy();
    else this.socket.destroySoon();
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    this.socket.once('close', () => clearTimeout(timer));
  }

  private receive(chunk: string): void {
    if (this.isClosed) return;
    const parts = (this.pending + chunk).split(/\r?\n/);
    this.pending = parts.pop() ?? '';
    if (this.pending.length > MAX_PENDING || this.lines.length + parts.length > MAX_LINES) {
      this.abort('the response is not IRC.');
      return;
    }
    for (const part of parts) {
      const line = parseLine(part);
      if (line.command === 'PING') this.send(`PONG :${line.parameters.at(-1) ?? ''}`);
      else if (line.command) this.lines.push(line);
    }
    this.signal();
  }

  private abort(reason: string): void {
    this.fail(new OutboundError('too_large', `${this.target}: ${reason}`));
    this.isClosed = true;
    this.socket.destroy();
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

/** Parses `:source COMMAND a b :rest of the line`; tags are dropped. */
export function parseLine(text: string): IrcLine {
  const match = /^(?:@\S+ +)?(?::(\S+) +)?(\S+)?(.*)$/s.exec(text);
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

/** Returns the TLS server name; TLS has no server name for plain addresses. */
function serverName(to: IrcAddress): string {
  return to.host === to.address ? '' : to.host;
}
