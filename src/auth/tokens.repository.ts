import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { TokenStore } from '../users/token-store.js';

@Injectable()
export class TokensRepository extends TableRepository implements TokenStore {
  constructor(database: Database) {
    super(database, 'tokens');
  }

  async endOthers(user: number, kept: string | null): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM tokens WHERE user_id = ${user} AND digest IS DISTINCT FROM ${kept}::text`);
  }
}
