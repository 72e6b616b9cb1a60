import { Injectable } from '@nestjs/common';
import type { JWK } from 'jose';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql } from '../database/sql.js';
import { SigningKey } from './signing-key.entity.js';

/** Key of the advisory lock that serializes new keys. */
const KEYS_LOCK = 7_305;

/** Key with its age in seconds. */
export interface AgedKey extends Pick<SigningKey, 'id' | 'private_key'> {
  public_key: JWK;
  age: number;
}

@Injectable()
export class SigningKeysRepository extends TableRepository<SigningKey> {
  constructor(@InjectRepository(SigningKey) repository: Repository<SigningKey>) {
    super(repository);
  }

  /** Returns all keys, the newest first. */
  all(): Promise<AgedKey[]> {
    return this.database.rows<AgedKey & Record<string, unknown>>(sql`
      SELECT id, private_key, public_key, extract(epoch FROM now() - created)::float8 AS age
      FROM signing_keys ORDER BY created DESC, id`);
  }

  /** Locks the addition of keys until the end of the transaction. */
  async lock(): Promise<void> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${KEYS_LOCK})`);
  }
}
