import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../../common/access.js';
import { Forbidden } from '../../common/errors/errors.js';
import { currentScope } from '../../common/http/request-scope.js';
import type { ApiRequest } from '../../common/http/request.js';
import { CurrentActor } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { SingleSignOn } from '../../identity/single-sign-on.service.js';
import { html } from '../shared/html.js';
import { cardPage, PAGE_ROUTE, setPageHeaders } from '../shared/layout.js';
import { openPage } from '../shared/page-context.js';

/** Starts the link of an account to the user of a session (docs/single-sign-on.md#links). */
@ApiTags('login')
@Controller('sso')
export class LinkController {
  constructor(private readonly signOn: SingleSignOn) {}

  /**
   * Accepts only forms of this server, so that another site cannot link its own account. The page has a
   * link, because the content security policy blocks the redirect of a form to another server.
   */
  @Route({
    ...PAGE_ROUTE,
    operationId: 'sso_link',
    summary: 'Start to link an account of an identity provider to the user of the session.',
  })
  @Post('link/:slug')
  async begin(
    @Param('slug') slug: string,
    @CurrentActor() actor: Actor,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    if (!currentScope()?.sessionDigest)
      throw new Forbidden('A token cannot link an account. Log in with a browser.');
    const user = `/api/v2/users/${actor.id}/`;
    const url = await this.signOn.begin(slug, request, response, { next: user, linkTo: actor.id });
    const { name } = await this.signOn.enabled(slug);
    setPageHeaders(response);
    response.status(200).send(
      cardPage(
        { ...openPage(request, response), actor },
        'Link an account',
        html`<p class="description">
            Log in to ${name} next. You can then use that account to log in as ${actor.username}.
          </p>
          <p>
            <a class="button primary" href="${url}">Continue to ${name}</a>
            <a class="button" href="${user}">Cancel</a>
          </p>`,
      ),
    );
  }
}
