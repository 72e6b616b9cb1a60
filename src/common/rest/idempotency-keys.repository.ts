import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { TableRepository } from '../../database/table-repository.js';

/** How long a key stands for its first request. */
const LIFETIME_HOURS = 24;

/** The first request with a key, and what it was answered. */
export interface StoredAnswer {
  /** Digest of what was asked. */
  request: string;
  status: number;
  location: string | null;
  /** The answer as JSON text, or empty. */
  body: string;
}

export interface IdempotencyKeyRow extends StoredAnswer {
  key: string;
}

@Injectable()
export class IdempotencyKeysRepository extends TableRepository<IdempotencyKeyRow> {
  constructor(database: Database) {
    super(database, 'idempotency_keys');
  }

  /** Takes a key for a request; who wants the same key waits. @returns whether it was to be had */
  async take(key: string, request: string): Promise<boolean> {
    const taken = await this.database.row(sql`
      INSERT INTO idempotency_keys (key, request) VALUES (${key}, ${request})
      ON CONFLICT (key) DO UPDATE SET request = EXCLUDED.request, created = now()
      WHERE idempotency_keys.created < now() - make_interval(hours => ${LIFETIME_HOURS}::int)
      RETURNING key`);
    return taken !== undefined;
  }

  /** Removes some that were taken days ago. @returns how many */
  removeOld(days: number, most: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM idempotency_keys WHERE key IN (
        SELECT key FROM idempotency_keys WHERE created < now() - make_interval(days => ${days})
        LIMIT ${most})`);
  }

  answerOf(key: string): Promise<StoredAnswer | null> {
    return this.findOneBy({ key });
  }

  async store(key: string, answer: Omit<StoredAnswer, 'request'>): Promise<void> {
    await this.update({ key }, answer);
  }
}
