/** Mail and IRC against every behavior of their servers; see notifications-http.spec.ts. */
import { eventually } from '../support/eventually.js';
import { IrcSink, type IrcSinkOptions } from '../support/fakes/irc-sink.js';
import { canary } from '../support/fakes/notification-configurations.js';
import { SmtpSink, type SmtpSinkOptions } from '../support/fakes/smtp-sink.js';
import { gate, NotificationMatrix, subjectOf, textOf } from './notification-matrix.js';

let matrix: NotificationMatrix;
beforeAll(async () => {
  matrix = await NotificationMatrix.start();
});
afterAll(() => matrix.stop());
afterEach(() => matrix.clean());

describe('email', () => {
  const credentials = { username: 'mailer', password: canary('password') };
  const sinks: SmtpSink[] = [];
  afterEach(async () => {
    await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  });

  const sendAgainst = async (
    options: SmtpSinkOptions,
    change: object = {},
    event: 'test' | 'error' = 'test',
  ) => {
    const sink = await SmtpSink.start(options);
    sinks.push(sink);
    const made = await matrix.template('email', { timeout: 5, ...change }, { smtp: sink.port });
    return { sink, sent: await matrix.send(made, event) };
  };

  it('accepts over STARTTLS with AUTH: the message and the record are as expected', async () => {
    const { sink, sent } = await sendAgainst(
      { tls: 'starttls', credentials },
      { ...credentials, use_tls: true, no_verify_ssl: true },
    );
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'successful',
      error: '',
      notifications_sent: 1,
      attempt: { successful: true },
    });
    expect(sink.mails).toHaveLength(1);
    const [mail] = sink.mails;
    expect(mail).toMatchObject({
      from: 'controller@example.org',
      recipients: ['ops@example.org', 'dev@example.org'],
      secure: true,
      user: 'mailer',
    });
    const [head, text] = mail!.raw.split('\r\n\r\n');
    expect(text).toBe(`${textOf(sent.template)}\r\n`);
    expect(head!.split('\r\n')).toEqual([
      'Auto-Submitted: auto-generated',
      'From: controller@example.org',
      'To: ops@example.org, dev@example.org',
      `Subject: ${subjectOf(sent.template)}`,
      `Message-ID: <${sent.messageId}@example.org>`,
      expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
      'Content-Transfer-Encoding: 7bit',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
    ]);
  });

  it('responds slowly: only its notification waits', async () => {
    const { open, passed } = gate();
    const { sent } = await sendAgainst({ until: passed }, { timeout: 30 });
    await matrix.expectOthersServed(sent);
    open();
    expect(await matrix.attempted(sent)).toMatchObject({ status: 'successful', error: '' });
  });

  it.each([
    [451, 'tried again'],
    [421, 'tried again'],
    [554, 'never again'],
  ])('responds with %i: failed, %s', async (code, then) => {
    const { sent } = await sendAgainst({ rejectMessageWith: code }, {}, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: `Error sending notification email: Message failed: ${code} refused by the sink`,
      notifications_sent: 0,
      attempt: { successful: false, status_code: code },
    });
    if (then === 'tried again') expect(row.wait).toBeLessThanOrEqual(5);
    else expect(row.wait).toBeNull();
  });

  it('resets the connection: failed, with an explanation', async () => {
    const { sent } = await sendAgainst({ reset: true }, {}, 'error');
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Error sending notification email: /),
      attempt: { successful: false, status_code: null },
    });
  });

  it('hangs: the attempt times out, and others do not wait', async () => {
    const { open, passed } = gate();
    const { sent } = await sendAgainst({ until: passed }, { timeout: 3 }, 'error');
    await matrix.expectOthersServed(sent);
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: 'Error sending notification email: no response in time',
      attempt: { successful: false, status_code: null },
    });
    open();
  });

  it('is at a private address: failed permanently', async () => {
    const sent = await matrix.send(await matrix.template('email', { host: '10.0.0.1' }));
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Error sending notification email: .*OUTBOUND_ALLOW/),
      wait: null,
    });
  });
});

describe('irc', () => {
  const sinks: IrcSink[] = [];
  afterEach(async () => {
    await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  });

  const sendAgainst = async (
    options: IrcSinkOptions,
    change: object = {},
    event: 'test' | 'error' = 'test',
  ) => {
    const sink = await IrcSink.start(options);
    sinks.push(sink);
    const made = await matrix.template('irc', change, { irc: sink.port });
    return { sink, sent: await matrix.send(made, event) };
  };

  it.each([
    ['TCP', false],
    ['TLS', true],
  ])('accepts over %s: the messages and the record are as expected', async (_name, tls) => {
    const password = canary('password');
    const { sink, sent } = await sendAgainst(
      { tls, password },
      { use_ssl: tls, no_verify_ssl: tls },
    );
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'successful',
      error: '',
      notifications_sent: 2,
      attempt: { successful: true, detail: 'Sent to 2 of 2.' },
    });
    await eventually(() =>
      expect(sink.lines).toEqual([
        `PASS ${password}`,
        'NICK controller',
        'USER controller 0 * :controller',
        'PONG :check',
        'JOIN #ops',
        `PRIVMSG #ops :${subjectOf(sent.template)}`,
        'PING :#ops',
        `PRIVMSG someone :${subjectOf(sent.template)}`,
        'PING :someone',
        'QUIT :',
      ]),
    );
  });

  it('responds slowly: only its notification waits', async () => {
    const { open, passed } = gate();
    const { sent } = await sendAgainst({ until: passed });
    await matrix.expectOthersServed(sent);
    open();
    expect(await matrix.attempted(sent)).toMatchObject({ status: 'successful', error: '' });
  });

  it('refuses a channel: failed, with the correct count', async () => {
    const { sent } = await sendAgainst({ closedChannels: ['#ops'] });
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: 'Error sending notification irc: the server refused #ops. Sent to 1 of 2.',
      notifications_sent: 1,
    });
  });

  it('has the nickname in use: failed, and retried', async () => {
    const takenNicks = ['controller', 'controller_', 'controller__'];
    const { sent } = await sendAgainst({ takenNicks }, {}, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: 'Error sending notification irc: the server refused the login (433)',
    });
    expect(row.wait).toBeLessThanOrEqual(5);
  });

  it('resets the connection: failed, with an explanation', async () => {
    const { sink, sent } = await sendAgainst({ reset: true }, {}, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        `^Error sending notification irc: 127\\.0\\.0\\.1:${sink.port}: (connection closed|the connection was closed before the response was complete \\(\\w+\\))\\.$`,
      ),
      attempt: { successful: false, status_code: null },
    });
    expect(row.wait).toBeLessThanOrEqual(5);
  });

  it('hangs: others do not wait', async () => {
    const { sink, sent } = await sendAgainst({ silent: true }, {}, 'error');
    await matrix.expectOthersServed(sent);
    await sink.close();
    sinks.length = 0;
    const row = await matrix.attempted(sent);
    expect(row.status).toBe('failed');
    expect(row.wait).toBeLessThanOrEqual(5);
  });

  it('is at a private address: failed permanently', async () => {
    const sent = await matrix.send(await matrix.template('irc', { server: '10.0.0.1' }));
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Error sending notification irc: .*OUTBOUND_ALLOW/),
      wait: null,
    });
  });
});
