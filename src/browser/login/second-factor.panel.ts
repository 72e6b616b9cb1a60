import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelButton, panelCard } from '../shared/panel-forms.js';
import { refusalView } from '../shared/refusal.js';
import { PAGE_PATH } from './second-factor-page.js';

const ID = 'second-factor';
const TITLE = 'Second factor';

/** Links users to their second factor; superusers can remove the second factor of other users. */
@Injectable()
@PagePanel('user')
export class SecondFactorPanel implements Panel<{ id: number }> {
  readonly covers = ['remove_second_factor'];

  render({ object, actor, csrf, path, refusal }: PanelContext<{ id: number }>): Html | null {
    const { id, has_second_factor: hasSecondFactor } = object;
    if (id === actor.id) {
      const label = hasSecondFactor === true ? 'Manage second factor' : 'Set up second factor';
      return panelCard(ID, TITLE, html`<a class="button" href="${PAGE_PATH}">${label}</a>`);
    }
    if (hasSecondFactor !== true || !actor.isSuperuser) return null;
    const form = {
      action: `/api/v2/users/${id}/remove_second_factor/`,
      csrf,
      returnTo: `${path}#${ID}`,
      errorsInCard: true,
    };
    return panelCard(
      ID,
      TITLE,
      html`${refusalView(refusal, ID)}
        <p class="description">For a user who has lost the phone and the recovery codes.</p>
        ${panelButton(form, 'Remove second factor', 'small danger')}`,
    );
  }
}
