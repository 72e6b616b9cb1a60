import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { ApiRequest } from '../../common/http/request.js';
import { Route } from '../../common/rest/route.js';
import { SingleSignOn } from '../../identity/single-sign-on.service.js';
import { hiddenInput, html } from '../shared/html.js';
import { cardPage, PAGE_ROUTE, setPageHeaders } from '../shared/layout.js';
import { openPage } from '../shared/page-context.js';

/** Receives the responses of SAML providers (docs/single-sign-on.md#saml). */
@ApiTags('login')
@Controller('sso')
export class SamlResponseController {
  constructor(private readonly signOn: SingleSignOn) {}

  /**
   * The first request comes from a form of the provider, so browsers omit the cookies of this site. The
   * returned form sends the response again with the cookies.
   */
  @Route({
    ...PAGE_ROUTE,
    kind: 'action',
    access: 'signature',
    sender: 'the signature of the identity provider',
    operationId: 'sso_saml_response',
    summary: 'Log in with the response of a SAML identity provider.',
    status: 302,
  })
  @Post('callback/:slug')
  async receive(
    @Param('slug') slug: string,
    @Body() body: Readonly<Record<string, unknown>>,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    const { RelayState: state, SAMLResponse: sent, again } = body;
    if (again === 'true') {
      response.redirect(302, await this.signOn.completeSaml(slug, request, response));
      return;
    }
    await this.signOn.enabledSaml(slug);
    setPageHeaders(response);
    response.send(
      cardPage(
        openPage(request, response),
        'Log in',
        html`<form method="post" action="/sso/callback/${slug}/" class="stack" data-submit>
          ${hiddenInput('RelayState', String(state))} ${hiddenInput('SAMLResponse', String(sent))}
          ${hiddenInput('again', 'true')}
          <button class="primary" autofocus>Continue</button>
        </form>`,
      ),
    );
  }
}
