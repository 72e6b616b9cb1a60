import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { html, type Html } from '../shared/html.js';
import { scrollTable } from '../shared/layout.js';
import { listedItem, objectSelect, panelCard, panelForm } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { PRESET } from '../shared/form-parameters.js';
import { ReferenceLists, type ReferenceList } from '../../common/rest/reference-lists.service.js';
import type { Item } from '../shared/value-views.js';
import { relationCondition } from '../../common/resource/relation-condition.js';
import { resource } from '../../common/resource/define-resource.js';
import { sql } from '../../database/sql.js';
import { NOTIFICATION_TYPE_CHOICES } from '../../notifications/notification-template.entity.js';
import { notificationTemplates } from '../../notifications/notification-templates.resource.js';
import { LAUNCHABLE_TYPES } from '../../schedules/schedule.hooks.js';

interface ShownObject {
  id: number;
  type: string;
  url: string;
}

interface EventRow {
  /** Key of the relation, and last part of its URL. */
  name: string;
  label: string;
  attached: readonly Item[];
  mayAttach: boolean;
  mayCreate: boolean;
}

const EVENTS = [
  ['started', 'When a run starts'],
  ['success', 'When a run succeeds'],
  ['error', 'When a run fails'],
  ['approvals', 'When a run waits for an approval'],
] as const;

/** Shows the attached notification templates by event, with forms that add and remove them. */
@Injectable()
@PagePanel(...LAUNCHABLE_TYPES, 'organization')
export class AttachedNotificationsPanel implements Panel<ShownObject> {
  constructor(
    private readonly source: PanelSource,
    private readonly references: ReferenceLists,
  ) {}

  async render({ object, actor, csrf }: PanelContext<ShownObject>): Promise<Html> {
    const rows: EventRow[] = [];
    for (const [event, label] of EVENTS) {
      const row = await this.rowOf(object, `notification_templates_${event}`, label, actor);
      if (row) rows.push(row);
    }
    const choices = await this.references.load(notificationTemplates, 'change', [], actor);
    return panelCard(
      'notifications',
      'Notifications',
      scrollTable(
        'Notifications by event',
        [],
        rows.map((row) => eventRow(row, { url: object.url, csrf, choices })),
      ),
    );
  }

  private async rowOf(
    { id, type, url }: ShownObject,
    name: string,
    label: string,
    actor: Actor,
  ): Promise<EventRow | null> {
    const relation = resource(type).relations[name];
    if (!relation) return null;
    const scope = relationCondition(relation, sql`${id}`, 't');
    const attached = await this.source.list(notificationTemplates, { page_size: '50' }, actor, {
      scope,
    });
    const open = await this.source.openParts(`${url}${name}/`, actor);
    return { name, label, attached, mayAttach: open.attach, mayCreate: open.body };
  }
}

interface RowParts {
  url: string;
  csrf: string;
  choices: ReferenceList;
}

function eventRow(row: EventRow, { url, csrf, choices }: RowParts): Html {
  const { name, label, attached, mayAttach, mayCreate } = row;
  const action = `${url}${name}/`;
  const form = { action, csrf, returnTo: `${url}#notifications` };
  const known = new Set(attached.map(({ id }) => String(id)));
  const others = { ...choices, options: choices.options.filter(([id]) => !known.has(id)) };
  const canPick = mayAttach && (others.hasMore || others.options.length > 0);
  return html`<tr>
    <th scope="row">${label}</th>
    <td>
      ${attached.length === 0 && html`<span class="none">No notifications</span>`}
      <ul class="held">
        ${attached.map((item) => listedItem(item, mayAttach ? { ...form, kind: 'inline' } : null))}
      </ul>
    </td>
    <td>
      ${
        canPick &&
        panelForm(
          form,
          html`${objectSelect({ id: `attach-${name}`, name: 'id', label: 'Notification template', list: '/api/v2/notification_templates/' }, others)}
            <button>Add notification</button>`,
        )
      }
      ${mayCreate && newLinks(action)}
    </td>
  </tr>`;
}

/** Renders links to forms that create and attach a notification template of each type. */
const newLinks = (action: string): Html =>
  html`<p class="hint">
    New:
    ${NOTIFICATION_TYPE_CHOICES.map(
      ([type, label]) => html` <a href="${action}?${PRESET}notification_type=${type}">${label}</a>`,
    )}
  </p>`;
