import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { generateWebhookKey } from '../common/crypto/random-key.js';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { RECEIVER_KINDS } from './receiver-kinds.js';

const TABLE = 'unified_job_templates';

/** What a receiver needs of a template. */
export interface ReceiverTemplate {
  id: number;
  kind: (typeof RECEIVER_KINDS)[number];
  name: string;
  organizationId: number | null;
  /** Service it listens to; empty for none. */
  service: string;
  /** Sealed webhook key; empty for none. */
  sealedKey: string;
  credentialId: number | null;
  /** As stored: `parseWebhookFilters` reads it. */
  filters: unknown;
  /** Whether a push takes the place of an earlier one that still waits. */
  coalesces: boolean;
}

type Found = Omit<ReceiverTemplate, 'kind'> & { type: string };

/** Templates as receivers see them. */
@Injectable()
export class ReceiverTemplates {
  private readonly decoyContext = rowContext(TABLE, randomUUID(), 'webhook_key');
  private readonly decoy: string;
  private readonly finding = new Batch((ids: readonly number[]) => this.findAll(ids));

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {
    this.decoy = box.seal(generateWebhookKey(), this.decoyContext);
  }

  /** A template of a kind by its id; null when there is none. Not for use in a transaction. */
  async find(kind: ReceiverTemplate['kind'], id: number): Promise<ReceiverTemplate | null> {
    const { type, ...found } = (await this.finding.run(id)) ?? { type: '' };
    return type === kind.type ? { ...(found as Omit<Found, 'type'>), kind } : null;
  }

  private async findAll(ids: readonly number[]): Promise<(Found | null)[]> {
    const rows = await this.database.preparedRows<Found>(sql`
      SELECT id, type, name, organization_id AS "organizationId", webhook_service AS "service",
        webhook_key AS "sealedKey", webhook_credential_id AS "credentialId",
        webhook_filters AS "filters", coalesce(webhook_coalesce, false) AS "coalesces"
      FROM unified_job_templates WHERE id = ANY(${[...new Set(ids)]}::int[])`);
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
    return this.box.open(template.sealedKey, rowContext(TABLE, template.id, 'webhook_key'));
  }
}
