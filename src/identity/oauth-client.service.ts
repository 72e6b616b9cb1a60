import { Injectable, Logger } from '@nestjs/common';
import * as oidc from 'openid-client';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { messageOf, Unavailable } from '../common/errors/errors.js';
import { OutboundClient } from '../outbound/outbound-client.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { parseJson } from '../common/fields/json-bounds.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import { secretContext } from './authenticator.hooks.js';
import { refused } from './external-logins.service.js';
import type { Claims } from './external-rights.js';
import { apiOf, githubClaims, githubMetadata, TOKEN_PATH, unexpected } from './github-account.js';

/** Values from the start of a login that its callback must match. */
export interface LoginChecks {
  state: string;
  nonce: string;
  verifier: string;
}

/** Authenticator with OAuth 2. */
export type Provider = AuthenticatorOf<'oidc' | 'github'>;

interface Discovered {
  /** Text that changes when the authenticator changes. */
  version: string;
  until: number;
  metadata: Promise<oidc.ServerMetadata>;
}

const DISCOVERY_MS = 3_600_000;
/** Timeout in seconds of each call to an endpoint of OpenID Connect or OAuth 2. */
const CALL_SECONDS = 10;
/** Timeout of all calls about one account of GitHub in seconds. */
const ACCOUNT_SECONDS = 30;
const RETRY_SECONDS = 5;

/** Endpoints in the metadata of every provider (OpenID Connect Discovery 1.0, section 3). */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** Codes of errors that the provider causes, not the request. */
const OUTAGES = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

/**
 * OpenID Connect, and OAuth 2 of GitHub, with the authorization code flow and PKCE (RFC 9700). All
 * calls go through the guarded client. The metadata of a provider are cached for an hour; its keys
 * are read at each login. GitHub has no metadata and no ID token: its API returns the account of
 * the token.
 */
@Injectable()
export class OAuthClient {
  private readonly logger = new Logger('SingleSignOn');
  private readonly discovered = new Map<number, Discovered>();

  constructor(
    private readonly outbound: OutboundClient,
    private readonly box: SecretBox,
  ) {}

  /** Starts a login. Returns the URL to redirect the browser to, and the checks of the callback. */
  async begin(provider: Provider, redirectUri: string): Promise<LoginChecks & { url: string }> {
    return this.reporting('login', provider, async () => {
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const { href } = oidc.buildAuthorizationUrl(await this.configured(provider), {
        redirect_uri: redirectUri,
        scope: provider.configuration.scopes,
        state: checks.state,
        ...(provider.kind === 'oidc' ? { nonce: checks.nonce } : {}),
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      });
      return { ...checks, url: href };
    });
  }

  /**
   * Exchanges the code of a callback and verifies the response: issuer, audience, times, nonce and
   * signature of the ID token.
   *
   * @returns the claims of the ID token and of the userinfo endpoint, or the claims of GitHub's API
   */
  async complete(provider: Provider, callback: URL, checks: LoginChecks): Promise<Claims> {
    return this.reporting('login', provider, async () => {
      const configuration = await this.configured(provider);
      const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
        expectedState: checks.state,
        ...(provider.kind === 'oidc' ? { expectedNonce: checks.nonce } : {}),
        pkceCodeVerifier: checks.verifier,
      });
      if (provider.kind === 'github') {
        const access = {
          token: tokens.access_token,
          signal: AbortSignal.timeout(ACCOUNT_SECONDS * 1000),
        };
        return githubClaims((path) => this.readApi(provider, path, access));
      }
      const claims = tokens.claims();
      if (!claims) throw refused('The provider sent no ID token.');
      const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
      if (!provider.configuration.userinfo || !endpoint) return claims;
      const userinfo = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return { ...userinfo, ...claims };
    });
  }

  /**
   * Reads the metadata of a provider again, or calls the API of GitHub.
   *
   * @returns the issuer
   * @throws Unavailable if the provider fails, Forbidden if its metadata are invalid
   */
  async probe(provider: Provider): Promise<string> {
    this.discovered.delete(provider.id);
    return this.reporting('test', provider, async () => {
      if (provider.kind === 'github') await this.readApi(provider, '/meta');
      return (await this.metadataOf(provider)).issuer;
    });
  }

  private async readApi(
    { configuration: { base_url: url } }: AuthenticatorOf<'github'>,
    path: string,
    { token, signal }: { token?: string; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const headers = {
      accept: 'application/vnd.github+json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const { status, body, truncated } = await this.outbound.request({
      method: 'GET',
      url: apiOf(url) + path,
      headers,
      ...(signal ? { signal } : {}),
    });
    const [name = path] = path.split('?');
    if (status !== 200 || truncated) {
      throw new OutboundError('invalid', `The response to ${name} has the status ${status}.`);
    }
    try {
      return parseJson(body);
    } catch {
      throw unexpected(name);
    }
  }

  /** Returns a configuration for one login, without cached keys of earlier logins. */
  private async configured(provider: Provider): Promise<oidc.Configuration> {
    const { client_id } = provider.configuration;
    const inBody =
      provider.kind === 'github' ||
      provider.configuration.token_auth_method === 'client_secret_post';
    const secret = this.secretOf(provider);
    const authentication =
      secret === ''
        ? oidc.None()
        : inBody
          ? oidc.ClientSecretPost(secret)
          : oidc.ClientSecretBasic(secret);
    const metadata = await this.metadataOf(provider);
    const configuration = new oidc.Configuration(metadata, client_id, {}, authentication);
    configuration[oidc.customFetch] = this.fetch;
    configuration.timeout = CALL_SECONDS;
    oidc.enableNonRepudiationChecks(configuration);
    if (isLocal(provider)) oidc.allowInsecureRequests(configuration);
    return configuration;
  }

  private metadataOf(provider: Provider): Promise<oidc.ServerMetadata> {
    const version = JSON.stringify([provider.modified, provider.configuration]);
    const cached = this.discovered.get(provider.id);
    if (cached?.version === version && cached.until > Date.now()) return cached.metadata;
    const metadata = this.loadMetadata(provider);
    this.discovered.set(provider.id, { version, until: Date.now() + DISCOVERY_MS, metadata });
    metadata.catch(() => this.discovered.delete(provider.id));
    return metadata;
  }

  private async loadMetadata(provider: Provider): Promise<oidc.ServerMetadata> {
    if (provider.kind === 'github') return githubMetadata(provider.configuration.base_url);
    const { issuer, client_id } = provider.configuration;
    const found = await oidc.discovery(new URL(issuer), client_id, undefined, oidc.None(), {
      [oidc.customFetch]: this.fetch,
      timeout: CALL_SECONDS,
      execute: isLocal(provider) ? [oidc.allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    const wrong = ENDPOINTS.find((name) => !isEndpoint(metadata[name], isLocal(provider)));
    if (wrong === undefined) return metadata;
    throw new OutboundError('invalid', `The metadata have no valid ${wrong}.`);
  }

  private secretOf({ id, configuration }: Provider): string {
    const { client_secret: sealed } = configuration;
    return sealed ? this.box.open(sealed, secretContext(id, 'client_secret')) : '';
  }

  private readonly fetch: oidc.CustomFetch = async (url, { method, headers, body, signal }) => {
    const { status, truncated, ...response } = await this.outbound.request({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(body ? { body: String(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (truncated) throw new OutboundError('too_large', 'The response is too large.');
    if (status > 599) throw new OutboundError('invalid', `The response has the status ${status}.`);
    const isEmpty = [204, 205, 304].includes(status);
    return new Response(isEmpty ? null : response.body, {
      // GitHub sends errors of the token endpoint with the status 200.
      status: status === 200 && url.endsWith(TOKEN_PATH) && isError(response.body) ? 400 : status,
      headers: response.headers,
    });
  };

  /** Maps errors of the provider and of the protocol to refusals with a short reason, and logs them. */
  private async reporting<T>(
    action: 'login' | 'test',
    provider: Provider,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = reasonOf(error);
      if (!reason) throw error;
      const { text, isOutage } = reason;
      this.logger.warn({ message: `${action} failed`, authenticator: provider.slug, reason: text });
      throw isOutage
        ? new Unavailable(RETRY_SECONDS, `The identity provider ${provider.name} failed: ${text}.`)
        : refused(`The identity provider ${provider.name} reported: ${text}.`);
    }
  }
}

/** Returns true for a provider at the loopback address, without TLS. */
const isLocal = (provider: Provider): boolean =>
  (provider.kind === 'github'
    ? provider.configuration.base_url
    : provider.configuration.issuer
  ).startsWith('http:');

const isEndpoint = (url: unknown, isHttpAllowed: boolean): boolean =>
  typeof url === 'string' &&
  URL.canParse(url) &&
  (isHttpAllowed ? /^https?:/i : /^https:/i).test(url);

/** Returns true for the JSON of an OAuth 2 error. */
const isError = (body: string): boolean => /^\s*\{\s*"error"/.test(body);

/** Returns a short reason without secrets; null for an internal error. */
function reasonOf(error: unknown): { text: string; isOutage: boolean } | null {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    return { text: error.error.slice(0, 100), isOutage: false };
  }
  if (error instanceof UnsealError) {
    return { text: 'its client secret cannot be decrypted, enter it again', isOutage: true };
  }
  if (error instanceof oidc.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause;
    return { text: challenge?.parameters.error ?? 'unauthorized', isOutage: false };
  }
  const { cause } = error instanceof Error ? error : {};
  const outbound = [error, cause].find((candidate) => candidate instanceof OutboundError);
  if (outbound) return { text: messageOf(outbound).replace(/\.$/, ''), isOutage: true };
  if (!(error instanceof oidc.ClientError)) return null;
  return { text: error.message, isOutage: OUTAGES.has(error.code ?? '') };
}
