import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { InstallationFact } from './setting.entity.js';

/** Returns the id of the installation as an SQL value; null before the id is assigned. */
export const installationUuid = (): Sql =>
  sql`(SELECT value FROM installation WHERE name = 'uuid')`;

/** Stores permanent facts about this installation. */
@Injectable()
export class InstallationRepository extends TableRepository<{ name: string; value: string }> {
  constructor(
    @InjectRepository(InstallationFact) repository: Repository<{ name: string; value: string }>,
  ) {
    super(repository);
  }

  /** Returns the id of the installation; empty before the id is assigned. */
  async uuid(): Promise<string> {
    const row = await this.database.row<{ uuid: string | null }>(
      sql`SELECT ${installationUuid()} AS uuid`,
    );
    return row?.uuid ?? '';
  }

  /**
   * Records that a one-time task is done.
   *
   * @returns true if the task was not recorded before
   */
  async recordOnce(name: string): Promise<boolean> {
    return this.database.affects(sql`
      INSERT INTO installation (name, value) VALUES (${name}, now()::text)
      ON CONFLICT (name) DO NOTHING`);
  }
}
