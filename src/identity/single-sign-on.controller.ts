import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { nextPath, SessionsService } from '../auth/sessions.service.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { NotFound } from '../common/errors/errors.js';
import { object, STRING } from '../common/fields/json-schema.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { ExternalLogins, refused } from './external-logins.service.js';
import { setLoginCookie, takeLoginCookie } from './login-cookie.js';
import { OAuthClient, type Provider } from './oauth-client.service.js';

const redirect = (operationId: string, summary: string): RouteInfo => ({
  kind: 'document',
  access: 'public',
  outsideApi: true,
  operationId,
  summary,
  status: 302,
  produces: 'text/html',
  response: STRING,
});

/** Logins with an external identity provider (docs/single-sign-on.md). */
@ApiTags('login')
@Controller('sso')
export class SingleSignOnController {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly client: OAuthClient,
    private readonly logins: ExternalLogins,
    private readonly sessions: SessionsService,
    private readonly baseUrl: BaseUrl,
    private readonly box: SecretBox,
  ) {}

  @Route({
    ...redirect('sso_login', 'Redirect the browser to an identity provider.'),
    query: [{ name: 'next', description: 'Path to return to.', schema: STRING }],
  })
  @Get('login/:slug')
  async begin(
    @Param('slug') slug: string,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    const authenticator = await this.enabled(slug);
    const callback = await this.callbackOf(request, slug);
    const { url, ...checks } = await this.client.begin(authenticator, callback);
    const next = nextPath(request.query.next ?? '/');
    setLoginCookie(this.box, response, { slug, next, ...checks });
    response.redirect(302, url);
  }

  @Route({
    ...redirect('sso_callback', 'Log in with the response of an identity provider.'),
    alternatives: [
      {
        status: 403,
        description: 'The login is refused, with the reason.',
        response: object({ detail: STRING }),
      },
    ],
  })
  @Get('callback/:slug')
  async complete(
    @Param('slug') slug: string,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    const authenticator = await this.enabled(slug);
    const state = String(request.query.state);
    // An error page repeats the query in its links.
    request.query = {};
    const login = takeLoginCookie(this.box, request, response, { slug, state });
    if (!login) {
      throw refused('It did not begin in this browser, was used before, or took over 10 minutes.');
    }
    const callback = new URL(await this.callbackOf(request, slug));
    callback.search = new URL(request.originalUrl, callback).search;
    const claims = await this.client.complete(authenticator, callback, login);
    const user = await this.logins.logIn(authenticator, claims);
    await this.sessions.open(request, response, user);
    response.redirect(302, login.next);
  }

  private async enabled(slug: string): Promise<Provider> {
    const authenticator = await this.authenticators.enabledBySlug(slug);
    if (!authenticator || authenticator.kind === 'ldap') throw new NotFound();
    return authenticator;
  }

  private async callbackOf({ protocol, headers }: ApiRequest, slug: string): Promise<string> {
    const base = await this.baseUrl.get(`${protocol}://${headers.host}`);
    return `${base}/sso/callback/${slug}/`;
  }
}
