import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { validate } from '../common/fields/validate.js';
import { Invalid } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/resource/resource.service.js';
import { Database } from '../database/database.js';
import type { NotificationType } from './backends/notification-type.js';
import { notificationTemplates } from './notification-templates.resource.js';
import { TemplateSecrets } from './template-secrets.js';

/** What a copy is asked for. */
export const COPY_FIELDS = notificationTemplates.fields.filter(({ name }) => name === 'name');

/** Copies notification templates, secrets included (automation 3.9). */
@Injectable()
export class TemplateCopies {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly secrets: TemplateSecrets,
  ) {}

  async mayCopy(id: string, actor: Actor): Promise<boolean> {
    const row = await this.resources.load(notificationTemplates, id, actor);
    return row.can_copy === true;
  }

  async copy(id: string, body: Record<string, unknown>, actor: Actor): Promise<Row> {
    return this.database.transaction(async () => {
      const row = await this.resources.load(notificationTemplates, id, actor);
      const { name } = validate(COPY_FIELDS, body);
      if (name === row.name) {
        throw Invalid.all(
          `The original object is already named ${String(name)}, a copy from it cannot have the same name.`,
        );
      }
      await this.resources.assertMay(notificationTemplates, row.id, 'change', actor);
      const type = row.notification_type as NotificationType;
      const stored = row.notification_configuration as Record<string, unknown>;
      const values = {
        name,
        description: row.description,
        organization: row.organization_id,
        notification_type: type,
        notification_configuration: this.secrets.open(row.id, type, stored),
        messages: row.messages,
      };
      return this.resources.insert(notificationTemplates, values, actor);
    });
  }
}
