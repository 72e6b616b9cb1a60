import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import {
  createTestClient,
  makeMessage,
  makeSendContext,
} from '../../../test/support/fakes/send-context.js';
import { SmtpSink, type SmtpSinkOptions } from '../../../test/support/fakes/smtp-sink.js';
import { OutboundClient } from '../../outbound/outbound-client.js';
import type { Configuration } from './backend.js';
import { emailBackend } from './email.backend.js';

const http = createTestClient();
const sinks: SmtpSink[] = [];
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
});
afterAll(() => http.onApplicationShutdown());

const start = async (options?: SmtpSinkOptions): Promise<SmtpSink> => {
  const sink = await SmtpSink.start(options);
  sinks.push(sink);
  return sink;
};

const configFor = (sink: SmtpSink, extra: Configuration = {}): Configuration => ({
  host: '127.0.0.1',
  port: sink.port,
  username: '',
  password: '',
  use_tls: false,
  use_ssl: false,
  sender: 'Controller <controller@example.org>',
  recipients: ['a@example.org', 'b@example.org'],
  timeout: 5,
  ...extra,
});

const send = (config: Configuration, message = makeMessage({ text: 'Zeile 1\nZeile zwei: ü' })) =>
  emailBackend.send(config, message, makeSendContext(http));

describe('email', () => {
  it('sends one plain-text message to all recipients', async () => {
    const sink = await start();
    await expect(send(configFor(sink))).resolves.toMatchObject({ sent: 1 });
    const [mail] = sink.mails;
    expect(mail).toMatchObject({
      from: 'controller@example.org',
      recipients: ['a@example.org', 'b@example.org'],
      secure: false,
      user: null,
    });
    expect(mail?.raw).toMatch(/^From: Controller <controller@example\.org>\r$/m);
    expect(mail?.raw).toMatch(/^To: a@example\.org, b@example\.org\r$/m);
    expect(mail?.raw).toMatch(/^Message-ID: <msg-0001@example\.org>\r$/m);
    expect(mail?.raw).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    expect(mail?.raw).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(mail?.raw).toContain('Zeile 1\r\nZeile zwei: =C3=BC');
  });

  it('supports mailboxes without a domain', async () => {
    const lines: string[] = [];
    const server = createServer((socket) => {
      socket.write('220 ready\r\n');
      socket.on('data', (data) => {
        lines.push(...data.toString().trimEnd().split('\r\n'));
        socket.write(lines.at(-1) === 'DATA' ? '354 go on\r\n' : '250 done\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const config = { sender: 'automation', recipients: ['root', 'a@example.org'], port };
    await send({ ...configFor(await start()), ...config });
    server.close();
    expect(lines).toEqual(
      expect.arrayContaining([
        'MAIL FROM:<automation>',
        'RCPT TO:<root>',
        'RCPT TO:<a@example.org>',
        'From: <automation>',
        'To: <root>, a@example.org',
      ]),
    );
  });

  it('uses STARTTLS and authentication', async () => {
    const credentials = { username: 'user', password: 'secret-pw' };
    const sink = await start({ tls: 'starttls', credentials });
    await send(configFor(sink, { ...credentials, use_tls: true, no_verify_ssl: true }));
    expect(sink.mails[0]).toMatchObject({ secure: true, user: 'user' });
  });

  it('uses TLS from the first byte', async () => {
    const sink = await start({ tls: 'implicit' });
    await send(configFor(sink, { use_ssl: true, no_verify_ssl: true }));
    expect(sink.mails[0]).toMatchObject({ secure: true });
  });

  it('does not send in clear text if STARTTLS is required and not offered', async () => {
    const sink = await start();
    await expect(send(configFor(sink, { use_tls: true }))).rejects.toMatchObject({
      name: 'SendError',
    });
    expect(sink.mails).toHaveLength(0);
  });

  it('verifies the certificate', async () => {
    const sink = await start({ tls: 'implicit' });
    await expect(send(configFor(sink, { use_ssl: true }))).rejects.toMatchObject({
      retryable: false,
    });
  });

  it('does not retry a wrong password or show it', async () => {
    const sink = await start({ credentials: { username: 'user', password: 'right' } });
    const config = configFor(sink, { username: 'user', password: 'wrong-pw' });
    await expect(send(config)).rejects.toMatchObject({
      retryable: false,
      statusCode: 535,
      message: expect.not.stringContaining('wrong-pw'),
    });
  });

  it.each([
    [451, true],
    [554, false],
  ])('retries the reply %i: %p', async (code, retryable) => {
    const sink = await start({ rejectMessageWith: code });
    await expect(send(configFor(sink))).rejects.toMatchObject({ retryable, statusCode: code });
  });

  it('reports the refused recipients', async () => {
    const sink = await start({ refuse: ['b@example.org'] });
    const result = await send(configFor(sink));
    expect(result.detail).toContain('b@example.org');
    expect(sink.mails[0]?.recipients).toEqual(['a@example.org']);
  });

  it('fails when all recipients are refused', async () => {
    const sink = await start({ refuse: ['a@example.org', 'b@example.org'] });
    await expect(send(configFor(sink))).rejects.toMatchObject({ retryable: false });
  });

  it('keeps the subject on one line', async () => {
    const sink = await start();
    await send(configFor(sink), makeMessage({ subject: 'a\r\nBcc: evil@example.org', text: 'x' }));
    expect(sink.mails[0]?.recipients).toEqual(['a@example.org', 'b@example.org']);
    expect(sink.mails[0]?.raw).toMatch(/^Subject: a Bcc: evil@example\.org\r$/m);
    expect(sink.mails[0]?.raw).not.toMatch(/^Bcc:/m);
  });

  it.each([
    { sender: 'a@x.org\r\nBcc: b@x.org' },
    { recipients: ['a@x.org\r\nRCPT TO:<b@x.org>'] },
    { use_tls: true, use_ssl: true },
  ])('refuses %j', async (extra) => {
    const sink = await start();
    await expect(send(configFor(sink, extra))).rejects.toMatchObject({ retryable: false });
    expect(sink.mails).toHaveLength(0);
  });

  it('refuses a private mail server by default', async () => {
    const sink = await start();
    const strict = new OutboundClient({ allow: [], userAgent: 'x' });
    for (const host of ['127.0.0.1', 'localhost', '0x7f.1', '[::1]']) {
      await expect(
        emailBackend.send(configFor(sink, { host }), makeMessage(), makeSendContext(strict)),
      ).rejects.toMatchObject({
        retryable: false,
        message: expect.stringContaining('not permitted'),
      });
    }
    await strict.onApplicationShutdown();
  });

  it('retries if the connection is refused', async () => {
    const sink = await start();
    const config = configFor(sink);
    await sinks.pop()?.close();
    await expect(send(config)).rejects.toMatchObject({ retryable: true });
  });

  it('disconnects from a server that sends very slowly', async () => {
    const dripping = createServer((socket) => {
      const timer = setInterval(() => socket.write('2'), 50);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
      });
    });
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
    const { port } = dripping.address() as AddressInfo;
    const sink = await start();
    const startedAt = Date.now();
    await expect(send(configFor(sink, { port, timeout: 1 }))).rejects.toMatchObject({
      retryable: true,
    });
    expect(Date.now() - startedAt).toBeLessThan(3000);
    // The server closes only after the client has closed the connection.
    await new Promise<void>((resolve) => dripping.close(() => resolve()));
  });
});
