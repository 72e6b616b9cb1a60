import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/** A setting that was changed at run time. */
export interface ChangedSetting {
  name: string;
  value: unknown;
}

@Injectable()
export class SettingsRepository extends TableRepository<ChangedSetting> {
  constructor(database: Database) {
    super(database, 'settings');
  }

  /** Those of some settings that were changed. */
  of(names: readonly string[]): Promise<ChangedSetting[]> {
    return this.database.preparedRows<ChangedSetting>(sql`
      SELECT name, value FROM settings WHERE name = ANY(${names}::text[])`);
  }

  /** Names of all settings that were changed, in order. */
  async names(): Promise<string[]> {
    const rows = await this.database.rows<{ name: string }>(
      sql`SELECT name FROM settings ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  }

  async store(name: string, value: unknown): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO settings (name, value) VALUES (${name}, ${JSON.stringify(value)})
      ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value, modified = now()`);
  }

  /** @returns those of them that had been changed, as they were */
  forget(names: readonly string[]): Promise<ChangedSetting[]> {
    return this.database.rows<ChangedSetting>(sql`
      DELETE FROM settings WHERE name = ANY(${names}::text[]) RETURNING name, value`);
  }
}
