import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Provider, { type Configuration, type JWK } from 'oidc-provider';

/** Claims of one account, in addition to its subject. */
export type Account = Record<string, unknown>;

export const CLIENT = { client_id: 'controller', client_secret: 'a-secret-of-the-client' };

const CLAIMS = ['preferred_username', 'given_name', 'family_name', 'email', 'groups', 'realm'];

/**
 * OpenID Connect provider in the process of the test (`oidc-provider`), which logs in `account` without a
 * form.
 */
export class IdentityProvider {
  /** Subject of the next login. */
  account = 'subject-1';
  readonly accounts: Record<string, Account> = {};
  private handler: RequestListener = () => undefined;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
    private readonly redirectUris: string[],
  ) {
    server.on('request', (request, response) => this.handler(request, response));
  }

  /** Validity of ID tokens in seconds; negative for a clock that is behind. */
  idTokenSeconds = 600;

  static async start(redirectUris: string[]): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const provider = new IdentityProvider(server, `http://127.0.0.1:${port}`, redirectUris);
    provider.rotateKeys();
    return provider;
  }

  /** Replaces the key and removes all sessions. */
  rotateKeys(): void {
    const notices = (['info', 'warn'] as const).map((level) =>
      jest.spyOn(console, level).mockImplementation(() => undefined),
    );
    const provider = new Provider(this.issuer, this.configuration());
    for (const notice of notices) notice.mockRestore();
    provider.use(async (context, next) => {
      if (!context.path.startsWith('/interaction/')) return next();
      await provider.interactionFinished(context.req, context.res, {
        login: { accountId: this.account },
      });
    });
    this.handler = provider.callback();
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private configuration(): Configuration {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ format: 'jwk' }) as JWK;
    return {
      clients: [{ ...CLIENT, redirect_uris: this.redirectUris }],
      jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['a key for tests'] },
      ttl: {
        AccessToken: 60,
        Grant: 600,
        IdToken: () => this.idTokenSeconds,
        Interaction: 600,
        Session: 600,
      },
      pkce: { required: () => true },
      claims: { openid: ['sub'], profile: CLAIMS },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => Promise.resolve({ sub: id, ...this.accounts[id] }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const { session, client, provider } = oidc;
        const grant = new provider.Grant({
          ...(session?.accountId ? { accountId: session.accountId } : {}),
          ...(client ? { clientId: client.clientId } : {}),
        });
        grant.addOIDCScope('openid profile email');
        // eslint-disable-next-line no-restricted-syntax -- This is not a repository.
        await grant.save();
        return grant;
      },
    };
  }
}

/** Browser without pages, which follows redirects step by step and keeps cookies by origin. */
export class CookieBrowser {
  readonly cookies = new Map<string, Map<string, string>>();

  async visit(
    url: string,
    headers: Record<string, string> = {},
    form: RequestInit = {},
  ): Promise<Response> {
    const jar = this.jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...form,
      redirect: 'manual',
      headers: { accept: 'text/html', cookie, ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Sends a form with the CSRF token of the browser. */
  send(url: string, fields: Record<string, string>): Promise<Response> {
    const csrfmiddlewaretoken = this.jarOf(url).get('csrftoken') ?? '';
    const body = new URLSearchParams({ ...fields, csrfmiddlewaretoken });
    return this.visit(url, {}, { method: 'POST', body });
  }

  /** Follows redirects to the last response, or to a URL that contains `until`. */
  async follow(url: string, until = '\n'): Promise<{ url: string; response: Response }> {
    for (let current = url; ;) {
      const response = await this.visit(current);
      const location = response.headers.get('location');
      if (location === null) return { url: current, response };
      current = new URL(location, current).href;
      if (current.includes(until)) return { url: current, response };
    }
  }

  jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    return jar;
  }
}
