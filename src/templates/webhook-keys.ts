import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { generateWebhookKey } from '../common/crypto/random-key.js';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

const contextOf = (templateId: number): string =>
  rowContext('unified_job_templates', templateId, 'webhook_key');

/**
 * Keys that verify the webhooks of templates (docs/contract/webhooks.md#key). They are kept sealed
 * for their row.
 */
@Injectable()
export class WebhookKeys {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly activity: ActivityRecorder,
  ) {}

  /** Column value of a new key. */
  fresh(templateId: number): string {
    return this.box.seal(generateWebhookKey(), contextOf(templateId));
  }

  /** The key in clear; empty without one. */
  open({ id, webhook_key: sealed }: Row): string {
    return typeof sealed === 'string' && sealed !== '' ? this.box.open(sealed, contextOf(id)) : '';
  }

  /** Gives a template that was just created its first key. */
  async assign(templateId: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates SET webhook_key = ${this.fresh(templateId)}
      WHERE id = ${templateId}`);
  }

  /**
   * Replaces the key of a locked row; the former one is dead with the commit.
   *
   * @throws Invalid when no service is chosen: the key would verify nothing
   */
  async rotate(definition: ResourceDefinition, template: Row): Promise<string> {
    if (template.webhook_service === '') {
      throw Invalid.field('webhook_service', 'A webhook service must be selected first.');
    }
    const key = generateWebhookKey();
    await this.database.execute(sql`
      UPDATE unified_job_templates
      SET webhook_key = ${this.box.seal(key, contextOf(template.id))}, modified = now()
      WHERE id = ${template.id}`);
    this.activity.record({
      operation: 'update',
      object1: refOf(definition, template),
      changes: { webhook_key: ['hidden', 'hidden'] },
    });
    return key;
  }
}
