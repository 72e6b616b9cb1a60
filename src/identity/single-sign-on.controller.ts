import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { nextPath } from '../auth/sessions.service.js';
import * as json from '../common/fields/json-schema.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { SingleSignOn } from './single-sign-on.service.js';

const redirect = (operationId: string, summary: string): RouteInfo => ({
  access: 'public',
  outsideApi: true,
  operationId,
  summary,
  status: 302,
  produces: 'text/html',
  response: json.STRING,
});

/** Logins with an external identity provider (docs/single-sign-on.md). */
@ApiTags('login')
@Controller('sso')
export class SingleSignOnController {
  constructor(private readonly signOn: SingleSignOn) {}

  @Route({
    ...redirect('sso_login', 'Redirect the browser to an identity provider.'),
    query: [{ name: 'next', description: 'Path to return to.', schema: json.STRING }],
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
        response: json.object({ detail: json.described(json.STRING, 'Reason, as a sentence.') }),
      },
    ],
  })
  @Get('callback/:slug')
  async complete(
    @Param('slug') slug: string,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    response.redirect(302, await this.signOn.completeRedirect(slug, request, response));
  }

  @Route({
    access: 'public',
    outsideApi: true,
    operationId: 'sso_metadata',
    summary: 'Metadata of this controller for a SAML identity provider.',
    produces: 'application/samlmetadata+xml',
    response: json.STRING,
  })
  @Get('metadata/:slug')
  async metadata(@Param('slug') slug: string, @Res() response: Response): Promise<void> {
    const text = await this.signOn.metadata(slug);
    response.type('application/samlmetadata+xml').send(text);
  }
}
