import { Injectable } from '@nestjs/common';
import { AuthenticatorsRepository } from '../../identity/authenticators.repository.js';
import { ExternalIdentitiesRepository } from '../../identity/external-identities.repository.js';
import { html, type Html } from '../shared/html.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelButton, panelCard } from '../shared/panel-forms.js';

/** Shows users the providers that they can log in with, on their own page. */
@Injectable()
@PagePanel('user')
export class LinkedAccountsPanel implements Panel<{ id: number }> {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly identities: ExternalIdentitiesRepository,
  ) {}

  async render({ object, actor, csrf }: PanelContext<{ id: number }>): Promise<Html | null> {
    if (object.id !== actor.id) return null;
    const options = await this.authenticators.enabled();
    if (options.length === 0) return null;
    const linked = await this.identities.authenticatorsOf(actor.id);
    return panelCard(
      'linked',
      'Linked accounts',
      html`<ul class="held">
        ${options.map(
          ({ id, name, slug }) =>
            html`<li>
              ${name}
              ${
                linked.includes(id)
                  ? html`<span class="hint">linked</span>`
                  : panelButton(
                      { action: `/sso/link/${slug}/`, csrf },
                      `Link an account of ${name}`,
                    )
              }
            </li>`,
        )}
      </ul>`,
    );
  }
}
