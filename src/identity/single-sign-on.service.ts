import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { SessionsService } from '../auth/sessions.service.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { NotFound } from '../common/errors/errors.js';
import { sessionOf } from '../common/http/cookies.js';
import type { ApiRequest } from '../common/http/request.js';
import { BaseUrl } from '../settings/base-url.service.js';
import type { AnyAuthenticator, AuthenticatorOf } from './authenticator.entity.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { setLoginCookie, takeLoginCookie, type LoginState } from './login-cookie.js';
import { ExternalLogins, refused } from './external-logins.service.js';
import type { Claims } from './external-rights.js';
import { OAuthClient, type Provider } from './oauth-client.service.js';
import type { SamlAddresses } from './saml-claims.js';
import { SamlClient } from './saml-client.service.js';

/** Starts and completes logins of a browser with a provider. */
@Injectable()
export class SingleSignOn {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly client: OAuthClient,
    private readonly saml: SamlClient,
    private readonly logins: ExternalLogins,
    private readonly sessions: SessionsService,
    private readonly baseUrl: BaseUrl,
    private readonly box: SecretBox,
  ) {}

  /**
   * Starts a login, and sets its cookie.
   *
   * @returns the URL of the provider to redirect the browser to
   */
  async begin(
    slug: string,
    request: ApiRequest,
    response: Response,
    login: Pick<LoginState, 'next' | 'linkTo'>,
  ): Promise<string> {
    const provider = await this.enabled(slug);
    const { url, ...checks } =
      provider.kind === 'saml'
        ? await this.saml.begin(provider, await this.addressesOf(slug))
        : await this.client.begin(provider, await this.callbackOf(request, slug));
    setLoginCookie(this.box, response, { slug, ...login, ...checks });
    return url;
  }

  /** @throws NotFound if no provider with this slug is enabled */
  async enabled(slug: string): Promise<Provider | AuthenticatorOf<'saml'>> {
    const authenticator = await this.authenticators.enabledBySlug(slug);
    if (!authenticator || authenticator.kind === 'ldap') throw new NotFound();
    return authenticator;
  }

  /** @throws NotFound */
  async enabledSaml(slug: string): Promise<AuthenticatorOf<'saml'>> {
    const authenticator = await this.enabled(slug);
    if (authenticator.kind !== 'saml') throw new NotFound();
    return authenticator;
  }

  /**
   * Returns the metadata of this controller for a SAML provider.
   *
   * @throws Forbidden without `BASE_URL`
   */
  async metadata(slug: string): Promise<string> {
    const provider = await this.enabledSaml(slug);
    return this.saml.metadata(provider, await this.addressesOf(slug));
  }

  /**
   * Completes a login with a redirect.
   *
   * @returns the path to redirect to
   */
  async completeRedirect(slug: string, request: ApiRequest, response: Response): Promise<string> {
    const provider = await this.enabled(slug);
    if (provider.kind === 'saml') throw new NotFound();
    const state = String(request.query.state);
    // An error page repeats the query in its links.
    request.query = {};
    const login = this.login(slug, request, response, state);
    const callback = new URL(await this.callbackOf(request, slug));
    callback.search = new URL(request.originalUrl, callback).search;
    const claims = await this.client.complete(provider, callback, login);
    return this.complete(provider, claims, login, request, response);
  }

  /**
   * Completes a login with a response of a SAML provider.
   *
   * @returns the path to redirect to
   */
  async completeSaml(slug: string, request: ApiRequest, response: Response): Promise<string> {
    const provider = await this.enabledSaml(slug);
    const { RelayState: state, SAMLResponse: sent } = request.body;
    const login = this.login(slug, request, response, String(state));
    const addresses = await this.addressesOf(slug);
    const claims = await this.saml.complete(provider, addresses, login, sent);
    return this.complete(provider, claims, login, request, response);
  }

  private login(slug: string, request: ApiRequest, response: Response, state: string): LoginState {
    const login = takeLoginCookie(this.box, request, response, { slug, state });
    if (login) return login;
    throw refused(
      'The login did not begin in this browser, was used before, or took over 10 minutes.',
    );
  }

  private async complete(
    provider: AnyAuthenticator,
    claims: Claims,
    { next, linkTo }: LoginState,
    request: ApiRequest,
    response: Response,
  ): Promise<string> {
    if (linkTo === null) {
      const user = await this.logins.logIn(provider, claims);
      await this.sessions.open(request, response, { id: user }, true);
      return next;
    }
    const cookie = sessionOf(request);
    const user = cookie === undefined ? null : await this.sessions.find(cookie, false);
    if (user?.id !== linkTo) throw refused('The user who began the link is no longer logged in.');
    await this.logins.link(provider, claims, linkTo);
    return next;
  }

  /**
   * Returns the addresses from `BASE_URL` only. With addresses from the Host header, the owner of another service
   * of the provider could replay the responses to that service here.
   *
   * @throws Forbidden without `BASE_URL`
   */
  private async addressesOf(slug: string): Promise<SamlAddresses> {
    const base = await this.baseUrl.configured();
    if (base === '') throw refused('SAML needs the setting BASE_URL.');
    return { callback: `${base}/sso/callback/${slug}/`, entityId: `${base}/sso/metadata/${slug}/` };
  }

  async callbackOf({ protocol, headers }: ApiRequest, slug: string): Promise<string> {
    const base = await this.baseUrl.get(`${protocol}://${headers.host}`);
    return `${base}/sso/callback/${slug}/`;
  }
}
