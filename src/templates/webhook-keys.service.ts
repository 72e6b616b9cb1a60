import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { generateWebhookKey } from '../common/crypto/random-key.js';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { TemplatesRepository } from './templates.repository.js';

/** Returns the context of a sealed key: the row of its template. */
export const keyContext = (templateId: number | string): string =>
  rowContext('unified_job_templates', templateId, 'webhook_key');

/**
 * Keys that verify the webhooks of templates (docs/contract/webhooks.md#key). Each key is sealed
 * for its row.
 */
@Injectable()
export class WebhookKeys {
  constructor(
    private readonly templates: TemplatesRepository,
    private readonly box: SecretBox,
    private readonly activity: ActivityRecorder,
  ) {}

  /** Returns the column value of a new key. */
  fresh(templateId: number): string {
    return this.box.seal(generateWebhookKey(), keyContext(templateId));
  }

  /** Returns the decrypted key; empty without one. */
  open({ id, webhook_key: sealed }: Row): string {
    return typeof sealed === 'string' && sealed !== '' ? this.box.open(sealed, keyContext(id)) : '';
  }

  /** Stores the first key of a new template. */
  async assign(templateId: number): Promise<void> {
    await this.templates.update({ id: templateId }, { webhook_key: this.fresh(templateId) });
  }

  /**
   * Replaces the key of a locked row; the old key is invalid from the commit on.
   *
   * @throws Invalid if no service is selected, because the key would verify nothing
   */
  async rotate(definition: ResourceDefinition, template: Row): Promise<string> {
    if (template.webhook_service === '') {
      throw Invalid.field('webhook_service', 'A webhook service must be selected first.');
    }
    const key = generateWebhookKey();
    await this.templates.replaceKey(template.id, this.box.seal(key, keyContext(template.id)));
    this.activity.recordUpdate(definition, template, { webhook_key: ['hidden', 'hidden'] });
    return key;
  }
}
