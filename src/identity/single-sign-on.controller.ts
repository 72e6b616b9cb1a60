import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { nextPath, SessionsService } from '../auth/sessions.service.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { described, object, STRING } from '../common/fields/json-schema.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { ExternalLogins, refused } from './external-logins.service.js';
import { takeLoginCookie } from './login-cookie.js';
import { OAuthClient } from './oauth-client.service.js';
import { SingleSignOn } from './single-sign-on.service.js';

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
    private readonly signOn: SingleSignOn,
    private readonly client: OAuthClient,
    private readonly logins: ExternalLogins,
    private readonly sessions: SessionsService,
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
    const next = nextPath(request.query.next ?? '/');
    const login = { next, linkTo: null };
    response.redirect(302, await this.signOn.begin(slug, request, response, login));
  }

  @Route({
    ...redirect('sso_callback', 'Log in with the response of an identity provider.'),
    alternatives: [
      {
        status: 403,
        description: 'The login is refused, with the reason.',
        response: object({ detail: described(STRING, 'Reason, as a sentence.') }),
      },
    ],
  })
  @Get('callback/:slug')
  async complete(
    @Param('slug') slug: string,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    const authenticator = await this.signOn.enabled(slug);
    const state = String(request.query.state);
    // An error page repeats the query in its links.
    request.query = {};
    const login = takeLoginCookie(this.box, request, response, { slug, state });
    if (!login) {
      throw refused('It did not begin in this browser, was used before, or took over 10 minutes.');
    }
    const callback = new URL(await this.signOn.callbackOf(request, slug));
    callback.search = new URL(request.originalUrl, callback).search;
    const claims = await this.client.complete(authenticator, callback, login);
    if (login.linkTo === null) {
      const user = await this.logins.logIn(authenticator, claims);
      await this.sessions.open(request, response, user, true);
    } else {
      if (request.actor?.id !== login.linkTo) {
        throw refused('The user who began it is not logged in any more.');
      }
      await this.logins.link(authenticator, claims, login.linkTo);
    }
    response.redirect(302, login.next);
  }
}
