import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.js';

export interface IrcSinkOptions {
  readonly tls?: boolean;
  /** Password that a client must send with PASS. */
  readonly password?: string;
  /** Channels that cannot be joined (473). */
  readonly closedChannels?: readonly string[];
  /** Unknown nicknames (401). */
  readonly unknownNicks?: readonly string[];
  /** Nicknames in use (433). */
  readonly takenNicks?: readonly string[];
  /** Accepts connections and never sends a line. */
  readonly silent?: boolean;
  /** Promise that the welcome waits for. */
  readonly until?: Promise<void>;
  /** Closes every connection immediately. */
  readonly reset?: boolean;
}

/** IRC server on a free port that records every line and every message. */
export class IrcSink {
  readonly lines: string[] = [];
  /** Messages in order of arrival. */
  readonly messages: { target: string; text: string }[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: IrcSinkOptions,
  ) {}

  static async start(options: IrcSinkOptions = {}): Promise<IrcSink> {
    const server = options.tls
      ? createTlsServer({ key: TEST_CERTIFICATE_KEY, cert: TEST_CERTIFICATE })
      : createServer();
    const sink = new IrcSink(server, options);
    server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      sink.serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private serve(socket: Socket): void {
    if (this.options.reset) {
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.setEncoding('utf8');
    const session = { nick: '', password: '' };
    let rest = '';
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        this.lines.push(line);
        if (!this.options.silent) this.handle(socket, session, line);
      }
    });
  }

  private handle(socket: Socket, session: { nick: string; password: string }, line: string): void {
    const [command = '', first = ''] = line.split(' ');
    const send = (text: string): void => void socket.write(`:irc.test ${text}\r\n`);
    const taken = this.options.takenNicks ?? [];
    if (command === 'PASS') session.password = first;
    else if (command === 'NICK' && taken.includes(first)) send(`433 * ${first} :In use`);
    else if (command === 'NICK') {
      if (session.nick === '' && this.lines.some((seen) => seen.startsWith('USER '))) {
        send(`001 ${first} :Welcome`);
      }
      session.nick = first;
    } else if (command === 'USER') void this.welcome(socket, session, send);
    else if (command === 'JOIN') this.join(socket, session.nick, first, send);
    else if (command === 'PRIVMSG') this.message(first, line, session.nick, send);
    else if (command === 'PING') send(`PONG irc.test ${line.slice(line.indexOf(':'))}`);
    else if (command === 'QUIT') socket.end(':irc.test ERROR :Closing link\r\n');
  }

  private async welcome(
    socket: Socket,
    session: { nick: string; password: string },
    send: (text: string) => void,
  ): Promise<void> {
    await this.options.until;
    if (this.options.password !== undefined && session.password !== this.options.password) {
      send('464 * :Password incorrect');
      socket.end();
    } else if (session.nick !== '') {
      socket.write('PING :check\r\n');
      send(`001 ${session.nick} :Welcome`);
    }
  }

  private join(socket: Socket, nick: string, channel: string, send: (text: string) => void): void {
    if (this.options.closedChannels?.includes(channel)) {
      send(`473 ${nick} ${channel} :Cannot join`);
    } else {
      socket.write(`:${nick}!user@host JOIN :${channel}\r\n`);
    }
  }

  private message(target: string, line: string, nick: string, send: (text: string) => void): void {
    if (this.options.unknownNicks?.includes(target)) {
      send(`401 ${nick} ${target} :No such nick`);
      return;
    }
    this.messages.push({ target, text: line.slice(line.indexOf(' :') + 2) });
  }
}
