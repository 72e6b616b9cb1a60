import type { AddressInfo, Socket } from 'node:net';

import { SMTPServer } from 'smtp-server';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';

import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.js';

/** Received message. */
export interface RecordedMail {
  readonly from: string;
  readonly recipients: readonly string[];
  /** Whole message, headers included. */
  readonly raw: string;
  readonly secure: boolean;
  readonly user: string | null;
}

export interface SmtpSinkOptions {
  /** No TLS, offered STARTTLS, or TLS from the first byte. */
  readonly tls?: 'none' | 'starttls' | 'implicit';
  /** Credentials that clients must send, if given. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Recipients refused with 550. */
  readonly refuse?: readonly string[];
  /** SMTP code that refuses the message itself, for example 451 or 554. */
  readonly rejectMessageWith?: number;
  /** Promise that the acceptance of a message waits for. */
  readonly until?: Promise<void>;
  /** Closes every connection immediately. */
  readonly reset?: boolean;
}

/** Mail server on a free port that records the messages it accepts. */
export class SmtpSink {
  readonly mails: RecordedMail[] = [];
  private readonly server: SMTPServer;

  private constructor(private readonly options: SmtpSinkOptions) {
    const { tls = 'none', credentials } = options;
    this.server = new SMTPServer({
      secure: tls === 'implicit',
      key: TEST_CERTIFICATE_KEY,
      cert: TEST_CERTIFICATE,
      authOptional: !credentials,
      allowInsecureAuth: true,
      disabledCommands: [
        ...(tls === 'starttls' ? [] : ['STARTTLS']),
        ...(credentials ? [] : ['AUTH']),
      ],
      disableReverseLookup: true,
      onAuth: (auth, _session, done) => {
        const isValid =
          auth.username === credentials?.username && auth.password === credentials?.password;
        done(isValid ? null : new Error('Authentication failed'), { user: auth.username });
      },
      onRcptTo: (address, _session, done) => {
        done(options.refuse?.includes(address.address) ? smtpError(550) : null);
      },
      onData: (stream, session, done) => void this.store(stream, session, done),
    });
    if (options.reset) this.server.server.on('connection', (socket: Socket) => socket.destroy());
    // A client that refuses the certificate closes the connection. Its test checks the refusal.
    this.server.on('error', () => undefined);
  }

  static async start(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
    const sink = new SmtpSink(options);
    await new Promise<void>((resolve) => sink.server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async store(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    await this.options.until;
    if (this.options.rejectMessageWith) {
      done(smtpError(this.options.rejectMessageWith));
      return;
    }
    const { mailFrom, rcptTo } = session.envelope;
    this.mails.push({
      from: mailFrom ? mailFrom.address : '',
      recipients: rcptTo.map(({ address }) => address),
      raw: Buffer.concat(chunks).toString('utf8'),
      secure: session.secure,
      user: typeof session.user === 'string' ? session.user : null,
    });
    done();
  }
}

function smtpError(responseCode: number): Error {
  return Object.assign(new Error('refused by the sink'), { responseCode });
}
