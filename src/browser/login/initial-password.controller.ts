import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { nextPath } from '../../auth/sessions.service.js';
import type { Actor } from '../../common/access.js';
import * as json from '../../common/fields/json-schema.js';
import type { Reply } from '../../common/http/reply.js';
import { resource } from '../../common/resource/define-resource.js';
import { CurrentActor } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { html } from '../shared/html.js';
import { cardPage, PAGE_ROUTE, pageReply } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { panelForm } from '../shared/panel-forms.js';

export const INITIAL_PASSWORD_PATH = '/initial-password/';

/** Asks the first administrator, at the first login, to replace the generated password. */
@ApiTags('root')
@Controller(INITIAL_PASSWORD_PATH)
export class InitialPasswordController {
  @Route({
    ...PAGE_ROUTE,
    operationId: 'initial_password',
    summary: 'Form that replaces the generated password of the first administrator.',
    query: [{ name: 'next', description: 'Path to return to.', schema: json.STRING }],
  })
  @Get()
  show(
    @OpenedPage() context: PageContext,
    @CurrentActor() { id }: Actor,
    @Query('next') nextParameter: unknown,
  ): Reply {
    const next = nextPath(nextParameter ?? '/');
    const form = {
      action: resource('user').url(id),
      csrf: context.csrf,
      returnTo: next,
      method: 'PATCH',
      kind: 'stack',
    } as const;
    return pageReply(
      cardPage(
        context,
        'Change password',
        html`<p>You logged in with the generated password. Choose a new password.</p>
          ${panelForm(
            form,
            html`<div class="field">
                <label for="password">New password</label>
                <input
                  id="password"
                  name="password"
                  type="password"
                  autocomplete="new-password"
                  required
                />
              </div>
              <div class="actions">
                <button class="primary">Change password</button>
                <a class="button quiet" href="${next}">Not now</a>
              </div>`,
          )}`,
      ),
    );
  }
}
