import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { generateWebhookKey } from '../common/crypto/random-key.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { type ReceivingTemplate, TemplatesRepository } from '../templates/templates.repository.js';
import { keyContext } from '../templates/webhook-keys.service.js';
import type { RECEIVER_KINDS } from './receiver-kinds.js';

/** What a receiver needs of a template. */
export interface ReceiverTemplate extends ReceivingTemplate {
  kind: (typeof RECEIVER_KINDS)[number];
}

/** Templates as receivers see them. */
@Injectable()
export class ReceiverTemplates {
  private readonly decoyContext = keyContext(randomUUID());
  private readonly decoy: string;
  private readonly finding = new Batch((ids: readonly number[]) => this.findAll(ids));

  constructor(
    private readonly templates: TemplatesRepository,
    private readonly box: SecretBox,
  ) {
    this.decoy = box.seal(generateWebhookKey(), this.decoyContext);
  }

  /** A template of a kind by its id; null when there is none. Not for use in a transaction. */
  async find(kind: ReceiverTemplate['kind'], id: number): Promise<ReceiverTemplate | null> {
    const found = await this.finding.run(id);
    return found?.type === kind.type ? { ...found, kind } : null;
  }

  private async findAll(ids: readonly number[]): Promise<(ReceivingTemplate | null)[]> {
    const rows = await this.templates.receiving([...new Set(ids)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /**
   * The key a signature is checked against. Without a template, or one without this key, it is one
   * that nobody knows: the answer then takes as long as for a wrong signature.
   */
  keyOf(template: ReceiverTemplate | null, service: string): string {
    if (!template || template.service !== service || template.sealedKey === '') {
      return this.box.open(this.decoy, this.decoyContext);
    }
    return this.box.open(template.sealedKey, keyContext(template.id));
  }
}
