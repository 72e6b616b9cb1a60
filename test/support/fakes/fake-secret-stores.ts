import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
export interface StoreRequest {
  line: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

interface Answer {
  status: number;
  body: object;
}

const TOKEN = 'hvs.given-for-a-login';
const FORBIDDEN: Answer = { status: 403, body: { errors: ['permission denied: secret detail'] } };
const UNKNOWN: Answer = { status: 404, body: { errors: [] } };

/**
 * A server that speaks the paths of HashiCorp Vault (key-value engines of both versions, logins by
 * AppRole, password and certificate) and of CyberArk's Central Credential Provider.
 */
export class FakeSecretStores {
  readonly requests: StoreRequest[] = [];
  /** Answers before all others, in order. `hang`: never. */
  readonly faults: (number | 'hang')[] = [];
  /** What may log in, by mount. */
  readonly logins: Record<string, object> = {
    approle: { role_id: 'role', secret_id: 'secret-id' },
    'team/userpass': { password: 'log me in' },
  };
  /** Tokens that are taken besides that of a login. */
  readonly tokens = ['root-token'];
  /** By path below `/v1/`, as the engines answer. */
  readonly secrets: Record<string, object> = {};
  /** By query, of the application `ctl`. */
  readonly accounts: Record<string, object> = {};

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.serve(request, response);
    });
  }

  static async start(): Promise<FakeSecretStores> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FakeSecretStores(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Lines of the requests since the last time. */
  taken(): string[] {
    return this.requests.splice(0).map(({ line }) => line);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const body: unknown = text === '' ? null : JSON.parse(text);
    const { method = '', url = '', headers } = request;
    this.requests.push({ line: `${method} ${url}`, headers, body });
    const fault = this.faults.shift();
    if (fault === 'hang') return;
    const answer =
      fault === undefined ? this.answer(method, url, headers, body) : { status: fault, body: {} };
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  }

  private answer(
    method: string,
    url: string,
    headers: IncomingMessage['headers'],
    body: unknown,
  ): Answer {
    const { pathname, search, searchParams } = new URL(url, this.url);
    if (pathname === '/AIMWebService/api/Accounts') return this.account(searchParams);
    const login = /^\/v1\/auth\/(.+)\/login(?:\/\w+)?$/.exec(pathname)?.[1];
    if (method === 'POST' && login !== undefined) return this.login(login, body);
    const isKnown = [TOKEN, ...this.tokens].includes(String(headers['x-vault-token']));
    if (!isKnown) return FORBIDDEN;
    const found = this.secrets[pathname.replace('/v1/', '') + search];
    return found ? { status: 200, body: { data: found } } : UNKNOWN;
  }

  private login(mount: string, body: unknown): Answer {
    return JSON.stringify(this.logins[mount]) === JSON.stringify(body)
      ? { status: 200, body: { auth: { client_token: TOKEN } } }
      : FORBIDDEN;
  }

  private account(query: URLSearchParams): Answer {
    if (query.get('AppId') !== 'ctl') return FORBIDDEN;
    const found = this.accounts[query.get('Query') ?? ''];
    return found ? { status: 200, body: found } : UNKNOWN;
  }
}
