import { Injectable } from '@nestjs/common';
import { sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

/** Time for which a key returns the response of its first request. */
const LIFETIME_HOURS = 24;

@Injectable()
export class IdempotencyKeysRepository extends TableRepository<IdempotencyKey> {
  constructor(@InjectRepository(IdempotencyKey) repository: Repository<IdempotencyKey>) {
    super(repository);
  }

  /**
   * Claims a key for a request. A concurrent request with the same key waits for the end of this
   * transaction.
   *
   * @returns false if another request has already claimed the key
   */
  async claim(key: string, request: string): Promise<boolean> {
    const claimed = await this.database.row(sql`
      INSERT INTO idempotency_keys (key, request) VALUES (${key}, ${request})
      ON CONFLICT (key) DO UPDATE SET request = EXCLUDED.request, created = now()
      WHERE idempotency_keys.created < now() - make_interval(hours => ${LIFETIME_HOURS}::int)
      RETURNING key`);
    return claimed !== undefined;
  }

  /** Deletes up to `limit` keys that are older than `days` days. */
  removeOld(days: number, limit: number): Promise<number> {
    return this.removeOlder({ column: 'created', days }, limit);
  }
}
