import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { OutboundClient } from '../../../src/outbound/outbound-client.js';
import { VENDOR_PROTOCOLS, type VendorResponse } from './vendor-stores.js';

/** Received request. */
export interface StoreRequest {
  line: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/**
 * Fault of a response: a status, or a malicious response. `hang`: no response. `large`: a body beyond the limit.
 * `html`: a body that is not JSON. `echo`: a refusal that quotes the request. A URL: a redirect to it.
 * `null`: no fault.
 */
type Fault = number | 'hang' | 'large' | 'html' | 'echo' | `http:${string}` | null;

/**
 * Public hosts, which no fake server can replace. Their requests are recorded with the host before the path.
 */
const PUBLIC_HOST =
  /^https:\/\/([^/]+\.(?:microsoftonline|amazonaws|secretsvaultcloud|github)\.\w+)/;

const TOKEN = 'hvs.given-for-a-login';
const FORBIDDEN: VendorResponse = {
  status: 403,
  body: { errors: ['permission denied: secret detail'] },
};
const UNKNOWN: VendorResponse = { status: 404, body: { errors: [] } };

/**
 * Fake server of HashiCorp Vault (key-value engines of both versions, logins by AppRole, password and
 * certificate), of CyberArk's Central Credential Provider, and of other vendors.
 */
export class FakeSecretStores {
  readonly requests: StoreRequest[] = [];
  /** Faults of the next responses, in order. */
  readonly faults: Fault[] = [];
  /** Accepted login bodies by mount; `any` for every body. */
  readonly logins: Record<string, object | 'any'> = {
    approle: { role_id: 'role', secret_id: 'secret-id' },
    'team/userpass': { password: 'log me in' },
  };
  /** Accepted tokens, in addition to the token of a login. */
  readonly tokens = ['root-token'];
  /** Responses of the engines, by path below `/v1/`. */
  readonly secrets: Record<string, object> = {};
  /** Accounts of the applications `ctl` and `ccp-secret`, by query. */
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

  /**
   * Redirects the requests of a client to public hosts to this server.
   *
   * @returns a function that ends the redirection
   */
  reroute(client: OutboundClient): () => void {
    const request = client.request.bind(client);
    client.request = (options) =>
      request({ ...options, url: options.url.replace(PUBLIC_HOST, `${this.url}/@$1`) });
    return () => {
      client.request = request;
    };
  }

  /** Returns the request lines since the last call. */
  takeLines(): string[] {
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
    const { method = '', url = '', headers } = request;
    const isJson = headers['content-type']?.includes('json') === true;
    const body: unknown = text === '' ? null : isJson ? JSON.parse(text) : text;
    this.requests.push({ line: `${method} ${url}`, headers, body });
    const fault = this.faults.shift() ?? null;
    if (fault === 'hang') return;
    if (fault === 'echo') {
      const quoted = { headers, text, ...Object.fromEntries(new URLSearchParams(text)) };
      response.writeHead(403).end(JSON.stringify(quoted));
      return;
    }
    if (typeof fault === 'string') {
      sendMalicious(fault, response);
      return;
    }
    const [, host = '', path = url] = /^\/@([^/]+)(.*)$/.exec(url) ?? [];
    const vendor = { method, host, path, headers, text };
    const reply =
      fault !== null
        ? { status: fault, body: {} }
        : (VENDOR_PROTOCOLS.map((protocol) => protocol(vendor)).find((one) => one !== null) ??
          this.respond(method, url, headers, body));
    const isText = typeof reply.body === 'string';
    response.writeHead(reply.status, {
      'content-type': isText ? 'text/plain' : 'application/json',
    });
    response.end(isText ? reply.body : JSON.stringify(reply.body));
  }

  private respond(
    method: string,
    url: string,
    headers: IncomingMessage['headers'],
    body: unknown,
  ): VendorResponse {
    const { pathname, search, searchParams } = new URL(url, this.url);
    if (pathname === '/AIMWebService/api/Accounts') return this.account(searchParams);
    const login = /^\/v1\/auth\/(.+)\/login(?:\/\w+)?$/.exec(pathname)?.[1];
    if (method === 'POST' && login !== undefined) return this.login(login, body);
    const isKnown = [TOKEN, ...this.tokens].includes(String(headers['x-vault-token']));
    if (!isKnown) return FORBIDDEN;
    if (pathname === '/v1/auth/token/revoke-self') return { status: 204, body: '' };
    const role = /^\/v1\/ssh\/sign\/(.+)$/.exec(pathname)?.[1];
    if (method === 'POST' && role !== undefined) return signedKey(role, body);
    const found = this.secrets[pathname.replace('/v1/', '') + search];
    return found ? { status: 200, body: { data: found } } : UNKNOWN;
  }

  private login(mount: string, body: unknown): VendorResponse {
    const expected = this.logins[mount];
    return expected === 'any' || JSON.stringify(expected) === JSON.stringify(body)
      ? { status: 200, body: { auth: { client_token: TOKEN } } }
      : FORBIDDEN;
  }

  private account(query: URLSearchParams): VendorResponse {
    if (!['ctl', 'ccp-secret'].includes(query.get('AppId') ?? '')) return FORBIDDEN;
    const found = this.accounts[query.get('Query') ?? ''];
    return found ? { status: 200, body: found } : UNKNOWN;
  }
}

/** Signs a key as Vault's SSH engine does for the role `ops`. */
function signedKey(role: string, body: unknown): VendorResponse {
  const { public_key: key, valid_principals: names } = body as Record<string, string>;
  if (role !== 'ops') return UNKNOWN;
  if (!key?.startsWith('ssh-')) return { status: 400, body: { errors: ['secret detail'] } };
  const signed_key = `ssh-ed25519-cert-v01@openssh.com signed ${names}\n`;
  return { status: 200, body: { data: { serial_number: '1', signed_key } } };
}

function sendMalicious(fault: 'large' | 'html' | `http:${string}`, response: ServerResponse): void {
  if (fault === 'large') response.end(`"${'x'.repeat(100_000)}"`);
  else if (fault === 'html') response.end('<html>secret detail</html>');
  else response.writeHead(307, { location: fault }).end();
}
