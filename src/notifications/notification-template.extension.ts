import { Injectable } from '@nestjs/common';
import { BreakersRepository } from '../outbound/breakers.repository.js';
import { CLOSED_BREAKER } from '../outbound/circuit-breaker.service.js';
import * as json from '../common/fields/json-schema.js';
import { extendEach, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, ShownMembers } from '../common/resource/extension.js';
import { maskForReaders } from './backends/configuration.js';
import { NotificationsRepository } from './notifications.repository.js';
import { TemplateSecrets } from './template-secrets.service.js';
import type { NotificationTemplate } from './notification-template.entity.js';
import { append } from '../common/records.js';

const RECENT = 5;

export const NOTIFICATION_TEMPLATE_SHOWS: ShownMembers = {
  related: ['test', 'resend'],
  summary_fields: {
    circuit_breaker: json.object({
      state: json.STRING,
      failures: json.INTEGER,
      open_until: json.orNull(json.INSTANT),
    }),
    recent_notifications: json.list(
      json.object({
        id: json.WIDE_INTEGER,
        status: json.STRING,
        created: json.INSTANT,
        error: json.STRING,
      }),
    ),
  },
};

/**
 * Adds the masked configuration, the newest records, the state of the destination and the
 * actions of templates.
 */
@Injectable()
export class NotificationTemplateExtension {
  constructor(
    private readonly secrets: TemplateSecrets,
    private readonly notifications: NotificationsRepository,
    private readonly breakers: BreakersRepository,
  ) {}

  async extend(rows: readonly RowOf<NotificationTemplate>[]): Promise<Map<number, Extension>> {
    const recent = await this.recentByTemplate(rows.map(({ id }) => id));
    const destinations = rows.map(({ destination }) => destination);
    const views = await this.breakers.viewsOf(destinations);
    const breakers = new Map(views.map(({ destination, ...view }) => [destination, view]));
    return extendEach(rows, (row) => ({
      fields: {
        notification_configuration: shownConfiguration(row, this.secrets),
      },
      related: { test: actionUrl(row.id, 'test'), resend: actionUrl(row.id, 'resend') },
      summary_fields: {
        recent_notifications: recent.get(row.id) ?? [],
        circuit_breaker: breakers.get(row.destination) ?? CLOSED_BREAKER,
      },
    }));
  }

  /** Returns the newest records of each template, in one statement. */
  private async recentByTemplate(ids: readonly number[]): Promise<Map<number, object[]>> {
    const byTemplate = new Map<number, object[]>();
    for (const { template, ...record } of await this.notifications.recent(ids, RECENT)) {
      append(byTemplate, template, record);
    }
    return byTemplate;
  }
}

function shownConfiguration(
  row: RowOf<NotificationTemplate>,
  secrets: TemplateSecrets,
): Record<string, unknown> {
  const type = row.notification_type;
  const stored = row.notification_configuration;
  const shown = secrets.show(row.id, type, stored);
  return row.can_edit === false ? maskForReaders(type, shown) : shown;
}

const actionUrl = (id: number, action: string): string =>
  `/api/v2/notification_templates/${id}/${action}/`;
