import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Conflict, Invalid } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ExtraColumns, Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { recipientsOf, validateConfiguration } from './backends/configuration.js';
import { destinationOf } from './backends/destination.js';
import type { NotificationType } from './backends/notification-type.js';
import { checkMessages } from './message/check-messages.js';
import type { Messages } from './message/message-events.js';
import { mergeMessages } from './message/messages.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { NotificationTemplatesRepository } from './notification-templates.repository.js';
import { NotificationsRepository } from './notifications.repository.js';
import { TemplateSecrets } from './template-secrets.service.js';
import type { NotificationTemplate } from './notification-template.entity.js';

type Configuration = Record<string, unknown>;

/** Template to be stored. The configuration is decrypted. */
interface Draft {
  id: number;
  organizationId: number;
  type: NotificationType;
  configuration: Configuration;
}

@Injectable()
export class NotificationTemplateHooks implements ResourceHooks<NotificationTemplate> {
  constructor(
    private readonly templates: NotificationTemplatesRepository,
    private readonly notifications: NotificationsRepository,
    private readonly secrets: TemplateSecrets,
    private readonly sandbox: TemplateSandbox,
  ) {}

  /**
   * Reserves the id before the row exists, because secrets are sealed for the id and never written
   * in plain text.
   */
  async prepareCreate(
    values: ValuesOf<NotificationTemplate>,
  ): Promise<Prepared<NotificationTemplate>> {
    const type = required(values.notification_type);
    const configuration = validated(
      validateConfiguration(type, required(values.notification_configuration)),
    );
    const organizationId = required(values.organization);
    await this.assertMessages(type, values.messages);
    const id = await this.templates.takeId();
    return {
      values: { messages: mergeMessages(null, values.messages ?? null) },
      columns: { id, ...this.columnsOf({ id, organizationId, type, configuration }) },
    };
  }

  async prepareUpdate(
    row: RowOf<NotificationTemplate>,
    values: ValuesOf<NotificationTemplate>,
    actor: Actor,
    { partial }: { partial: boolean },
  ): Promise<Prepared<NotificationTemplate>> {
    const storedType = row.notification_type;
    const type = values.notification_type ?? storedType;
    if ('messages' in values) await this.assertMessages(type, values.messages);
    const messages = 'messages' in values ? changedMessages(values, row, partial) : {};
    if (
      !['notification_type', 'notification_configuration', 'organization'].some(
        (name) => name in values,
      )
    ) {
      return { values: messages };
    }
    const stored = this.storedConfiguration(row, type);
    const configuration = nextConfiguration(values, type, stored, actor);
    const isSame = isDeepStrictEqual(configuration, stored);
    const changes = isSame ? { notification_configuration: undefined, ...messages } : messages;
    if (isSame && !('organization' in values)) return { values: changes };
    const organizationId = values.organization ?? row.organization_id;
    const columns = this.columnsOf({ id: row.id, organizationId, type, configuration });
    return { values: changes, columns };
  }

  /**
   * Refuses to delete a template with pending notifications. Failed notifications do not count;
   * their planned retries are deleted with their records.
   */
  async prepareDelete(row: RowOf<NotificationTemplate>): Promise<void> {
    const pending = await this.notifications.namesOfPending(row.id);
    if (pending !== null) {
      throw new Conflict(`Delete not allowed while there are pending notifications: ${pending}.`);
    }
  }

  /** Returns the decrypted configuration; null if it belongs to another type or its key is lost. */
  private storedConfiguration(
    row: RowOf<NotificationTemplate>,
    type: NotificationType,
  ): Configuration | null {
    if (row.notification_type !== type) return null;
    const stored = row.notification_configuration;
    return this.secrets.openIfPossible(row.id, type, stored);
  }

  private columnsOf({ id, organizationId, type, configuration }: Draft): ExtraColumns {
    return {
      notification_configuration: JSON.stringify(this.secrets.seal(id, type, configuration)),
      recipients: recipientsOf(type, configuration),
      destination: destinationOf(organizationId, type, configuration),
    };
  }

  private async assertMessages(type: NotificationType, messages: unknown): Promise<void> {
    const errors = await checkMessages(type, messages, this.sandbox);
    if (errors.length > 0) throw new Invalid({ messages: errors });
  }
}

const required = <T>(value: T): NonNullable<T> => existing(value, 'a required field has a value');

function validated({
  configuration,
  errors,
}: ReturnType<typeof validateConfiguration>): Configuration {
  if (errors.length > 0) throw new Invalid({ __all__: [...errors] });
  return configuration;
}

/**
 * Returns the configuration after a change, which replaces the whole configuration. If the type
 * changes without a new configuration, the error lists the keys that the new type requires.
 *
 * @param stored current configuration, decrypted; null if the type changes or the encryption key is lost
 */
function nextConfiguration(
  values: ValuesOf<NotificationTemplate>,
  type: NotificationType,
  stored: Configuration | null,
  { isSuperuser }: Actor,
): Configuration {
  const sent = values.notification_configuration;
  if (sent === undefined && stored) return stored;
  return validated(validateConfiguration(type, sent ?? {}, stored, { mayRedirect: isSuperuser }));
}

/**
 * Returns the changed messages: PATCH merges, PUT replaces; undefined if the result is equal to the
 * stored messages.
 */
function changedMessages(
  values: ValuesOf<NotificationTemplate>,
  row: RowOf<NotificationTemplate>,
  partial: boolean,
): { messages: Messages | null | undefined } {
  const sent = values.messages ?? null;
  const stored = row.messages;
  const messages = mergeMessages(partial ? stored : null, sent);
  return { messages: isDeepStrictEqual(messages, stored) ? undefined : messages };
}
