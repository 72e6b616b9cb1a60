import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/** What is true of this installation, for as long as it lasts. */
@Injectable()
export class InstallationRepository extends TableRepository<{ name: string; value: string }> {
  constructor(database: Database) {
    super(database, 'installation');
  }

  /** Id of the installation; empty before it has one. */
  async uuid(): Promise<string> {
    const row = await this.findOneBy({ name: 'uuid' });
    return row?.value ?? '';
  }

  /** Notes that something is done. @returns whether it is for the first time */
  async once(name: string): Promise<boolean> {
    const added = await this.database.execute(sql`
      INSERT INTO installation (name, value) VALUES (${name}, now()::text)
      ON CONFLICT (name) DO NOTHING`);
    return added > 0;
  }
}
