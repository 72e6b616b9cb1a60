import {
  Bool,
  Choices,
  fieldsOf,
  Json,
  Reference,
  Text,
  type SchemaClass,
} from '../common/fields/field.js';
import { FORK_RULES } from '../code-hosts/forks.js';
import { WEBHOOK_SERVICES } from '../code-hosts/services.js';

/**
 * Fields of every kind of template with receivers (docs/contract/webhooks.md#fields-of-templates).
 */
export class WebhookTemplateFields {
  @Choices(WEBHOOK_SERVICES, { help: 'Service whose webhooks launch the template.' })
  webhook_service!: string;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    help: 'Personal access token with which statuses are posted back.',
  })
  webhook_credential!: Reference | null;

  @Json({
    help: 'Conditions on the verified webhooks that launch the template; empty: every event of the contract.',
  })
  webhook_filters!: object;

  @Bool({ help: 'Launch each body only once, regardless of the id of the delivery.' })
  webhook_dedupe_body!: boolean;

  /** Sealed for this row. Only `webhook_key/` and `webhook/` return the key. */
  @Text({ internal: true, filter: false })
  webhook_key!: string;
}

/** Fields of templates for which each event can launch a separate run. */
export class WebhookJobTemplateFields extends WebhookTemplateFields {
  @Bool({
    help: 'A push replaces an earlier push to the same ref whose job is still pending.',
  })
  webhook_coalesce!: boolean;

  @Choices(FORK_RULES, {
    default: 'always',
    help: 'Handling of changes from another repository.',
  })
  webhook_forks!: string;
}

const namesOf = (schema: SchemaClass): readonly string[] =>
  fieldsOf(schema).map(({ name }) => name);

/** Fields that a page displays under the heading of webhooks. */
export const WEBHOOK_FIELDS = namesOf(WebhookTemplateFields);
export const JOB_WEBHOOK_FIELDS = namesOf(WebhookJobTemplateFields);
