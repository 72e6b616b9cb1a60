import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { ChangedSetting } from './setting.entity.js';

/** Key of the advisory lock on changes of settings, unique in this database. */
const CHANGES_LOCK = 7_307;

type NameAndValue = Pick<ChangedSetting, 'name' | 'value'>;

/**
 * Returns a query for the changed value of a setting; the query has no row for an unchanged
 * setting.
 */
export const changedSetting = (name: string): Sql =>
  sql`SELECT value FROM settings WHERE name = ${name}`;

@Injectable()
export class SettingsRepository extends TableRepository<ChangedSetting> {
  constructor(@InjectRepository(ChangedSetting) repository: Repository<ChangedSetting>) {
    super(repository);
  }

  /** Returns the changed settings among `names`. */
  of(names: readonly string[]): Promise<NameAndValue[]> {
    return this.database.preparedRows<NameAndValue>(sql`
      SELECT name, value FROM settings WHERE name = ANY(${names}::text[])`);
  }

  /** Returns the names of all changed settings, in order. */
  async names(): Promise<string[]> {
    const rows = await this.database.rows<{ name: string }>(
      sql`SELECT name FROM settings ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  }

  /** Makes other changes wait until the transaction ends, so that settings that depend on each other stay valid. */
  async lock(): Promise<void> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${CHANGES_LOCK})`);
  }

  async store(name: string, value: unknown): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO settings (name, value) VALUES (${name}, ${JSON.stringify(value)})
      ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value, modified = now()`);
  }

  /**
   * Deletes the changed values of settings.
   *
   * @returns the settings among `names` that had been changed, with their former values
   */
  forget(names: readonly string[]): Promise<NameAndValue[]> {
    return this.database.rows<NameAndValue>(sql`
      DELETE FROM settings WHERE name = ANY(${names}::text[]) RETURNING name, value`);
  }
}
