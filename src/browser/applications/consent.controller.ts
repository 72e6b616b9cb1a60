import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import {
  AUTHORIZATION_PARAMETERS,
  AuthorizationServer,
  type OAuthParameters,
  type ConsentRequest,
} from '../../applications/authorization-server.service.js';
import type { Actor } from '../../common/access.js';
import { textMembers } from '../../common/records.js';
import { Forbidden } from '../../common/errors/errors.js';
import * as json from '../../common/fields/json-schema.js';
import type { ApiRequest } from '../../common/http/request.js';
import { currentScope } from '../../common/http/request-scope.js';
import { CurrentActor } from '../../common/rest/parameters.js';
import { Route, type RouteInfo } from '../../common/rest/route.js';
import { setPageHeaders, csrfInput, page } from '../shared/layout.js';
import { openPage, type PageContext } from '../shared/page-context.js';
import { hiddenInput, html } from '../shared/html.js';

const ROUTE = {
  produces: 'text/html',
  response: json.STRING,
} as const satisfies Partial<RouteInfo>;

/** Asks a user if an application may act for them (RFC 6749, section 4.1.1). */
@ApiTags('applications')
@Controller('api/o')
export class ConsentController {
  constructor(private readonly server: AuthorizationServer) {}

  @Route({
    ...ROUTE,
    operationId: 'o_authorize_form',
    summary: 'Show the consent page of an application.',
    query: AUTHORIZATION_PARAMETERS.map((name) => ({
      name,
      description: 'As in RFC 6749 and 7636.',
      schema: json.STRING,
    })),
  })
  @Get('authorize')
  async form(
    @Req() request: ApiRequest,
    @Res() response: Response,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    assertSession();
    const parameters = textMembers(request.query);
    const consent = await this.server.consentRequest(parameters);
    if (consent.application.skip_authorization) {
      response.redirect(302, await this.server.authorize(parameters, actor.id, true));
      return;
    }
    setPageHeaders(response, [originOf(consent.redirectUri)]);
    response.send(consentPage(openPage(request, response), consent, parameters));
  }

  @Route({
    ...ROUTE,
    operationId: 'o_authorize',
    summary: 'Consent to an application, or refuse.',
    status: 302,
  })
  @Post('authorize')
  async decide(
    @Body() body: OAuthParameters,
    @Res() response: Response,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    assertSession();
    const parameters = textMembers(body);
    const isAllowed = parameters[DECISION] === ALLOW;
    response.redirect(302, await this.server.authorize(parameters, actor.id, isAllowed));
  }
}

/** @throws Forbidden for a token or a password: only a person in a browser can consent */
function assertSession(): void {
  if (!currentScope()?.sessionDigest) throw new Forbidden('Log in with a browser to consent.');
}

/** Returns the source expression that permits the redirect to a URL. */
function originOf(uri: string): string {
  const { origin, protocol } = new URL(uri);
  return origin === 'null' ? protocol : origin;
}

/** Field of the form with the decision of the user. */
const DECISION = 'decision';
const ALLOW = 'allow';

const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  read: 'Read everything that you can read.',
  write: 'Read and change everything that you can, and launch jobs in your name.',
};

/** Renders the page that asks a user for consent. */
function consentPage(
  context: PageContext,
  { application, redirectUri, scope }: ConsentRequest,
  parameters: OAuthParameters,
): string {
  return page({
    context,
    title: 'Authorize application',
    narrow: true,
    content: html`<section class="card login">
      <h1>Authorize ${application.name}?</h1>
      ${application.description && html`<p class="description">${application.description}</p>`}
      <p>${application.name} will be able to:</p>
      <ul>
        ${scope.map((name) => html`<li>${SCOPE_TEXTS[name]}</li>`)}
      </ul>
      <p class="description">
        You return to ${new URL(redirectUri).host || redirectUri}. Delete the token of the
        application to end its access.
      </p>
      <form method="post" action="/api/o/authorize/" class="stack">
        ${csrfInput(context.csrf)}
        ${Object.entries(parameters)
          .filter(([name]) => AUTHORIZATION_PARAMETERS.includes(name))
          .map(([name, value]) => hiddenInput(name, value))}
        <button class="primary" name="${DECISION}" value="${ALLOW}">Authorize</button>
        <button name="${DECISION}" value="deny">Cancel</button>
      </form>
    </section>`,
  });
}
