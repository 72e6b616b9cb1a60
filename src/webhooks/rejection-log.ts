import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { messageOf } from '../common/errors/message-of.js';

const FLUSH_MS = 1000;

/** A request that proved nothing, and what it was answered. */
export interface UnprovedRequest {
  templateId: number;
  service: WebhookServiceName;
  verdict: 'rejected' | 'ignored';
  reason: string;
  event: string;
  answer: number;
  /** Bytes of the body. */
  size: number;
  source: string;
}

interface Counted extends UnprovedRequest {
  repeats: number;
}

/**
 * Records requests without proof of the webhook key. Anybody can send those, so they must fill
 * neither the table nor the database's time: they are counted here, and at most one record for each
 * template, service and answer is written in a second, whatever the number of processes. A process
 * that dies loses the counts of its last second and nothing else.
 */
@Injectable()
export class RejectionLog implements OnModuleDestroy {
  private readonly logger = new Logger('Webhooks');
  private readonly counted = new Map<string, Counted>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly database: Database) {}

  /** Counts a request; the record shows the newest of those it stands for. */
  count(request: UnprovedRequest): void {
    const key = `${request.templateId}:${request.service}:${request.verdict}`;
    const repeats = (this.counted.get(key)?.repeats ?? 0) + 1;
    this.counted.set(key, { ...request, repeats });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /**
   * Records a request at once, with those of the same second. For what has to name its record.
   * @returns id of the record; null when the template is gone
   */
  async record(request: UnprovedRequest): Promise<number | null> {
    const [written] = await this.write([{ ...request, repeats: 1 }]);
    return written?.id ?? null;
  }

  /** Writes what was counted so far. Never fails: a record is not worth more than the service. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const rows = [...this.counted.values()];
    this.counted.clear();
    if (rows.length > 0) {
      this.writing = this.writing
        .then(async () => {
          await this.write(rows);
        })
        .catch((error: unknown) => {
          const reason = messageOf(error);
          this.logger.warn({ message: 'rejected deliveries not recorded', reason });
        });
    }
    return this.writing;
  }

  onModuleDestroy(): Promise<void> {
    return this.flush();
  }

  /** One statement; templates deleted meanwhile are left out. */
  private write(rows: readonly Counted[]): Promise<{ id: number }[]> {
    const column = <Key extends keyof Counted>(key: Key): Counted[Key][] =>
      rows.map((row) => row[key]);
    return this.database.rows<{ id: number }>(sql`
      INSERT INTO webhook_deliveries AS del
        (template_id, service, verdict, reason, event, answer, size, source, repeats, dedupe_key)
      SELECT given.*, 'second:' || given.verdict || ':' || floor(extract(epoch FROM now()))
      FROM unnest(${column('templateId')}::int[], ${column('service')}::text[],
          ${column('verdict')}::text[], ${column('reason')}::text[], ${column('event')}::text[],
          ${column('answer')}::int[], ${column('size')}::int[], ${column('source')}::text[],
          ${column('repeats')}::int[])
        AS given (template_id, service, verdict, reason, event, answer, size, source, repeats)
      JOIN unified_job_templates ujt ON ujt.id = given.template_id
      ON CONFLICT (template_id, service, dedupe_key)
        DO UPDATE SET repeats = del.repeats + EXCLUDED.repeats
      RETURNING del.id`);
  }
}
