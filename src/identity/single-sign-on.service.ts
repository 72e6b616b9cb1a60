import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { SecretBox } from '../common/crypto/secret-box.js';
import { NotFound } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { setLoginCookie, type BegunLogin } from './login-cookie.js';
import { OAuthClient, type Provider } from './oauth-client.service.js';

/** Begins logins of a browser with a provider. */
@Injectable()
export class SingleSignOn {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly client: OAuthClient,
    private readonly baseUrl: BaseUrl,
    private readonly box: SecretBox,
  ) {}

  /**
   * Sets the cookie of a login.
   *
   * @returns the URL of the provider that the browser continues at
   */
  async begin(
    slug: string,
    request: ApiRequest,
    response: Response,
    login: Pick<BegunLogin, 'next' | 'linkTo'>,
  ): Promise<string> {
    const provider = await this.enabled(slug);
    const callback = await this.callbackOf(request, slug);
    const { url, ...checks } = await this.client.begin(provider, callback);
    setLoginCookie(this.box, response, { slug, ...login, ...checks });
    return url;
  }

  /** @throws NotFound if there is no enabled provider of this slug */
  async enabled(slug: string): Promise<Provider> {
    const authenticator = await this.authenticators.enabledBySlug(slug);
    if (!authenticator || authenticator.kind === 'ldap') throw new NotFound();
    return authenticator;
  }

  async callbackOf({ protocol, headers }: ApiRequest, slug: string): Promise<string> {
    const base = await this.baseUrl.get(`${protocol}://${headers.host}`);
    return `${base}/sso/callback/${slug}/`;
  }
}
