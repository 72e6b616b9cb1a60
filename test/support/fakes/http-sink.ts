import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.js';

/** Received request. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Body that quotes the request, as some services do. */
export const ECHO = Symbol('echo');

/** Scripted response. Without a script the sink responds 200 `{}`. */
export interface ScriptedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. `ECHO` sends the whole request. */
  readonly body?: string | object | typeof ECHO;
  readonly delayMs?: number;
  /** Promise that the response waits for. */
  readonly until?: Promise<void>;
  /**
   * `reset` closes the connection instead of responding. `hang` never responds. `drip` sends headers immediately,
   * and then single bytes without end.
   */
  readonly fault?: 'reset' | 'hang' | 'drip';
}

/** HTTP(S) server on a free port that records requests and sends scripted responses. */
export class HttpSink {
  readonly requests: RecordedRequest[] = [];
  private readonly script: ScriptedReply[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly scheme: 'http' | 'https',
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.serve(request, response);
    });
  }

  static async start(options: { tls?: boolean } = {}): Promise<HttpSink> {
    const server = options.tls
      ? createTlsServer({ key: TEST_CERTIFICATE_KEY, cert: TEST_CERTIFICATE })
      : createServer();
    const sink = new HttpSink(server, options.tls ? 'https' : 'http');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Base URL without a trailing slash. */
  get url(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  /** Last request; throws if there was none. */
  get last(): RecordedRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error('The sink has received no request.');
    return request;
  }

  /** Queues responses for the next requests, in order. Numbers are statuses. */
  reply(...replies: (ScriptedReply | number)[]): this {
    this.script.push(
      ...replies.map((reply) => (typeof reply === 'number' ? { status: reply } : reply)),
    );
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    this.requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks).toString('utf8'),
    });
    const reply = this.script.shift() ?? {};
    if (reply.delayMs) await sleep(reply.delayMs);
    await reply.until;
    if (reply.fault === 'hang') return;
    if (reply.fault === 'reset') {
      request.socket.destroy();
      return;
    }
    if (reply.fault === 'drip') {
      drip(response);
      return;
    }
    const body = reply.body === ECHO ? echoOf(this.last) : (reply.body ?? {});
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(reply.status ?? 200, {
      'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      ...reply.headers,
    });
    response.end(text);
  }
}

const echoOf = ({ method, path, rawHeaders, body }: RecordedRequest): string =>
  [`${method} ${path}`, ...rawHeaders, body].join('\n');

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => response.write('.'), 20);
  response.once('close', () => clearInterval(timer));
}
