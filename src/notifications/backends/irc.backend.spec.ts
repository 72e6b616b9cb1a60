/**
 * Replaces the clock.
 *
 * @jest-environment node
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { IrcSink, type IrcSinkOptions } from '../../../test/support/fakes/irc-sink.js';
import {
  createTestClient,
  makeMessage,
  makeSendContext,
} from '../../../test/support/fakes/send-context.js';
import { OutboundClient } from '../../outbound/outbound-client.js';
import type { Configuration } from './backend.js';
import { ircBackend } from './irc.backend.js';
import { IrcSession, parseLine } from './irc-session.js';

const http = createTestClient();
const sinks: IrcSink[] = [];
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
});
afterAll(() => http.onApplicationShutdown());

const start = async (options: IrcSinkOptions = {}): Promise<IrcSink> => {
  const sink = await IrcSink.start(options);
  sinks.push(sink);
  return sink;
};

const configFor = (sink: IrcSink, extra: Configuration = {}): Configuration => ({
  server: '127.0.0.1',
  port: sink.port,
  nickname: 'bot',
  password: '',
  use_ssl: false,
  targets: ['#ops', 'alice'],
  ...extra,
});

const send = (config: Configuration, subject = 'hello') =>
  ircBackend.send(config, makeMessage({ subject }), makeSendContext(http));

describe('irc', () => {
  it('registers, joins, sends and leaves', async () => {
    const sink = await start();
    await expect(send(configFor(sink))).resolves.toMatchObject({ sent: 2 });
    expect(sink.messages).toEqual([
      { target: '#ops', text: 'hello' },
      { target: 'alice', text: 'hello' },
    ]);
    expect(sink.lines.slice(0, 2)).toEqual(['NICK bot', 'USER bot 0 * :bot']);
    expect(sink.lines).toContain('PONG :check');
    expect(sink.lines).toContain('JOIN #ops');
    expect(sink.lines).not.toContain('JOIN alice');
  });

  it('stores each target that it has reached', async () => {
    const sink = await start();
    const kept: (readonly string[])[] = [];
    const keepDelivered = async (targets: readonly string[]): Promise<void> => {
      kept.push(targets);
    };
    await ircBackend.send(
      configFor(sink),
      makeMessage(),
      makeSendContext(http, undefined, { keepDelivered }),
    );
    expect(kept).toEqual([['#ops'], ['#ops', 'alice']]);
  });

  it('sends the password over TLS', async () => {
    const sink = await start({ tls: true, password: 'pw' });
    const config = configFor(sink, { use_ssl: true, password: 'pw', no_verify_ssl: true });
    await expect(send(config)).resolves.toMatchObject({ sent: 2 });
    expect(sink.lines[0]).toBe('PASS pw');
  });

  it('verifies the certificate', async () => {
    const sink = await start({ tls: true });
    await expect(send(configFor(sink, { use_ssl: true }))).rejects.toMatchObject({
      name: 'SendError',
      retryable: false,
    });
  });

  it('uses another nickname if the configured one is in use', async () => {
    const sink = await start({ takenNicks: ['bot'] });
    await expect(send(configFor(sink))).resolves.toMatchObject({ sent: 2 });
    expect(sink.lines).toContain('NICK bot_');
  });

  it.each(['two words', ':start'])('sends the password "%s" as one parameter', async (password) => {
    const sink = await start();
    await send(configFor(sink, { password }));
    expect(parseLine(sink.lines[0] ?? '')).toMatchObject({
      command: 'PASS',
      parameters: [password],
    });
  });

  it('reports a refused password', async () => {
    const sink = await start({ password: 'right' });
    await expect(send(configFor(sink, { password: 'wrong' }))).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('464'),
    });
  });

  it('reports the refused targets', async () => {
    const sink = await start({ closedChannels: ['#closed'], unknownNicks: ['ghost'] });
    const targets = ['#closed', '#ops', 'ghost'];
    await expect(send(configFor(sink, { targets }))).rejects.toMatchObject({
      retryable: false,
      delivered: ['#ops'],
      message: expect.stringContaining('#closed, ghost. Sent to 1 of 3'),
    });
  });

  it('assigns each reply to its own target', async () => {
    const sink = await start({ unknownNicks: ['ghost', 'phantom'] });
    await expect(
      send(configFor(sink, { targets: ['ghost', 'phantom', 'alice'] })),
    ).rejects.toMatchObject({
      delivered: ['alice'],
      message: expect.stringContaining('ghost, phantom. Sent to 1 of 3'),
    });
  });

  it('does not repeat targets that an earlier attempt reached', async () => {
    const sink = await start();
    const context = makeSendContext(http, undefined, { delivered: ['#ops'] });
    await expect(ircBackend.send(configFor(sink), makeMessage(), context)).resolves.toMatchObject({
      sent: 2,
    });
    expect(sink.messages.map(({ target }) => target)).toEqual(['alice']);
  });

  it('sends any text as one line, truncated to the length of the protocol', async () => {
    const sink = await start();
    await send(configFor(sink, { targets: ['alice'] }), `a\r\nQUIT\n\0${'ü'.repeat(600)}`);
    const [message] = sink.messages;
    expect(message?.text).toMatch(/^a QUIT ü+…$/);
    expect(Buffer.byteLength(message?.text ?? '')).toBeLessThanOrEqual(400);
    expect(sink.lines).not.toContain('QUIT');
  });

  it('refuses a private server by default', async () => {
    const sink = await start();
    const strict = new OutboundClient({ allow: [], userAgent: 'x' });
    await expect(
      ircBackend.send(configFor(sink), makeMessage(), makeSendContext(strict)),
    ).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('not permitted'),
    });
    expect(sink.lines).toHaveLength(0);
    await strict.onApplicationShutdown();
  });

  it('retries if the connection is refused', async () => {
    const sink = await start();
    const config = configFor(sink);
    await sinks.pop()?.close();
    await expect(send(config)).rejects.toMatchObject({ retryable: true });
  });

  it('disconnects from a server that is silent for a minute', async () => {
    const sink = await start({ silent: true });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const sending = send(configFor(sink)).catch((error: unknown) => error);
      // The greeting arrives over a real socket, which the fake clock does not control.
      while (!sink.lines.includes('USER bot 0 * :bot')) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      jest.advanceTimersByTime(59_000);
      expect(await Promise.race([sending, Promise.resolve('waiting')])).toBe('waiting');
      jest.advanceTimersByTime(2_000);
      expect(await sending).toMatchObject({
        message: 'Error sending notification irc: no response in time',
        retryable: true,
        delivered: [],
      });
    } finally {
      jest.useRealTimers();
    }
  });

  it('retries if the server closes the connection', async () => {
    const sink = await start({ silent: true });
    const sending = send(configFor(sink));
    setTimeout(() => void sink.close(), 50);
    await expect(sending).rejects.toMatchObject({ retryable: true });
  });
});

describe('IrcSession', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const serve = async (onConnection: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      onConnection(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const { port } = Object(server.address());
    const session = await IrcSession.open({
      ...{ address: '127.0.0.1', host: 'irc.test', port: Number(port) },
      ...{ tls: false, verifyTls: true, connectTimeoutMs: 3_000 },
    });
    await accepted;
    return { server, session };
  };

  it('ends when the server sends PINGs and does not read the replies', async () => {
    const ping = `PING :${'x'.repeat(8_000)}\r\n`.repeat(100);
    const { server, session } = await serve((socket) => {
      socket.pause();
      const flood = (): boolean => socket.writable && socket.write(ping, flood);
      flood();
    });
    await expect(session.next(Date.now() + 20_000)).rejects.toThrow('does not read');
    server.close();
  });

  it('closes soon, although the server does not read', async () => {
    const { server, session } = await serve((socket) => {
      socket.pause();
    });
    session.send('x'.repeat(16_000_000));
    session.close();
    await expect(session.next(Date.now() + 20_000)).rejects.toThrow('connection closed');
    server.close();
  });

  it('ends when the server sends more lines than a greeting has', async () => {
    const { server, session } = await serve((socket) => {
      socket.write('x\n'.repeat(30_000));
    });
    server.close();
    // The session closes its connection although the test reads no lines.
    await once(server, 'close');
    const lines = async (): Promise<void> => {
      for (;;) await session.next(Date.now() + 5_000);
    };
    await expect(lines()).rejects.toThrow('not IRC');
  });

  it('reads a long line without backtracking', () => {
    const line = parseLine(`${'x'.repeat(80_000)}\u2028y`);
    expect(line.command).toHaveLength(80_000);
  });
});

describe('parseLine', () => {
  it.each([
    [':nick!u@h JOIN :#ops', { source: 'nick', command: 'JOIN', parameters: ['#ops'] }],
    [
      ':irc.test 001 bot :Welcome all',
      { source: 'irc.test', command: '001', parameters: ['bot', 'Welcome all'] },
    ],
    ['PING :x', { source: '', command: 'PING', parameters: ['x'] }],
    ['@time=1 :a b c', { source: 'a', command: 'B', parameters: ['c'] }],
    ['', { source: '', command: '', parameters: [] }],
  ])('%s', (line, expected) => {
    expect(parseLine(line)).toEqual(expected);
  });
});
