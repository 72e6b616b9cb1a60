import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { generateWebhookKey } from '../common/crypto/random-key.js';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { resultOr } from '../common/errors/errors.js';
import { type ReceivingTemplate, TemplatesRepository } from '../templates/templates.repository.js';
import { keyContext } from '../templates/webhook-keys.service.js';
import type { RECEIVER_KINDS } from './receiver-kinds.js';

/** The data of a template that a receiver needs. */
export interface ReceiverTemplate extends ReceivingTemplate {
  kind: (typeof RECEIVER_KINDS)[number];
}

/** Loads templates with the data for receivers. */
@Injectable()
export class ReceiverTemplates {
  private readonly decoyContext = keyContext(randomUUID());
  private readonly decoy: string;
  private readonly lookups = new Batch((ids: readonly number[]) => this.findAll(ids));

  constructor(
    private readonly templates: TemplatesRepository,
    private readonly box: SecretBox,
  ) {
    this.decoy = box.seal(generateWebhookKey(), this.decoyContext);
  }

  /**
   * Returns a template of a kind by its id; null if there is none. Must not be called in a
   * transaction.
   */
  async find(kind: ReceiverTemplate['kind'], id: number): Promise<ReceiverTemplate | null> {
    const found = await this.lookups.run(id);
    return found?.type === kind.type ? { ...found, kind } : null;
  }

  private async findAll(ids: readonly number[]): Promise<(ReceivingTemplate | null)[]> {
    const rows = await this.templates.receiving([...new Set(ids)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /**
   * Returns the key for checking a signature; null if there is no template, it has no key for this
   * service, or the key cannot be decrypted with the installation's keys.
   */
  keyOf(template: ReceiverTemplate | null, service: string): string | null {
    if (!template || template.service !== service || template.sealedKey === '') return null;
    const context = keyContext(template.id);
    return resultOr(() => this.box.open(template.sealedKey, context), null, UnsealError);
  }

  /**
   * Returns a random key, which replaces a missing key so that the response takes as long as for a wrong
   * signature.
   */
  decoyKey(): string {
    return this.box.open(this.decoy, this.decoyContext);
  }
}
