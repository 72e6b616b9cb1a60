import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/** Setting that was changed at run time. */
export interface ChangedSetting {
  name: string;
  value: unknown;
}

@Injectable()
export class SettingsRepository extends TableRepository<ChangedSetting> {
  constructor(database: Database) {
    super(database, 'settings');
  }

  /** Returns the given settings that were changed. */
  of(names: readonly string[]): Promise<ChangedSetting[]> {
    return this.database.preparedRows<ChangedSetting>(sql`
      SELECT name, value FROM settings WHERE name = ANY(${names}::text[])`);
  }

  /** Returns the names of all changed settings, in order. */
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

  /** @returns the given settings that had been changed, with their former values */
  forget(names: readonly string[]): Promise<ChangedSetting[]> {
    return this.database.rows<ChangedSetting>(sql`
      DELETE FROM settings WHERE name = ANY(${names}::text[]) RETURNING name, value`);
  }
}
