import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const GITHUB_CLIENT = { client_id: 'Iv1.test', client_secret: 'a-secret-of-github' };

/** Fake GitHub Enterprise Server: the parts of OAuth 2 and of the API that a login uses. */
export class FakeGithub {
  /** Responses of the API by path. A function writes the response itself. */
  api: Record<string, unknown> = {};
  /** Bodies of the requests to the token endpoint. */
  readonly exchanges: URLSearchParams[] = [];
  private readonly challenges = new Map<string, string>();
  private codes = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => void this.respond(request, response));
  }

  static async start(): Promise<FakeGithub> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new FakeGithub(server, `http://127.0.0.1:${port}`);
  }

  /** Sets the account that logs in next. */
  account(user: object, organizations: string[] = [], teams: string[] = []): void {
    this.api = {
      '/user': user,
      '/user/emails': [
        { email: 'unverified@example.com', primary: true, verified: false },
        { email: 'other@example.com', primary: false, verified: true },
      ],
      '/user/orgs': organizations.map((login) => ({ login })),
      '/user/teams': teams.map((team) => {
        const [login, slug] = team.split('/');
        return { slug, organization: { login } };
      }),
      '/meta': {},
    };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname === '/login/oauth/authorize') return this.authorize(searchParams, response);
    if (pathname === '/login/oauth/access_token') return this.exchange(request, response);
    const path = pathname.replace('/api/v3', '');
    const value = this.api[path];
    if (typeof value === 'function') return value(response);
    const isKnown = path === '/meta' || request.headers.authorization === 'Bearer a-token';
    const [size, page] = ['per_page', 'page'].map((name) => Number(searchParams.get(name) ?? 1));
    const result =
      Array.isArray(value) && size !== undefined && page !== undefined
        ? value.slice(...(searchParams.has('page') ? [(page - 1) * size, page * size] : []))
        : value;
    json(response, isKnown ? 200 : 401, result);
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = `code-${(this.codes += 1)}`;
    this.challenges.set(code, query.get('code_challenge') ?? '');
    const target = new URL(query.get('redirect_uri') ?? '');
    target.search = String(new URLSearchParams({ code, state: query.get('state') ?? '' }));
    response.writeHead(302, { location: target.href }).end();
  }

  /** Refuses as GitHub does: with the status 200. */
  private async exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams(await text(request));
    this.exchanges.push(body);
    const verifier = createHash('sha256').update(body.get('code_verifier') ?? '');
    const code = body.get('code') ?? '';
    const isValid =
      body.get('client_secret') === GITHUB_CLIENT.client_secret &&
      this.challenges.get(code) === verifier.digest('base64url');
    this.challenges.delete(code);
    if (isValid) json(response, 200, { access_token: 'a-token', token_type: 'bearer', scope: '' });
    else json(response, 200, { error: 'bad_verification_code', error_description: 'expired' });
  }
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
