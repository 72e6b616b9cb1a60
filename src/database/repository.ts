import { Repository, type ObjectLiteral } from 'typeorm';
import { AmbientManager } from './ambient-manager.js';
import type { Database } from './database.js';
import { insertRows, takeIds, type ColumnValues } from './rows.js';
import { ident, sql, TRUE, type Sql } from './sql.js';

/** Selects rows `t` of a table by age. */
interface OldRows {
  /** Column with an instant. */
  column: string;
  /** Age in days. */
  days: number;
  /** Further condition on a row `t`. */
  condition?: Sql;
}

/**
 * Base class of the repositories of tables (docs/decisions/0051-repositories.md): a TypeORM repository
 * whose statements join the ambient transaction. Single rows are written with TypeORM's `insert`, `update`
 * and `delete`, and checked with `existsBy`; objects of resources by
 * `ResourceRowsRepository`. Lists, joins, bulk writes and reads of rows with instants are methods with SQL
 * that `this.database` runs; TypeORM would truncate instants to milliseconds.
 *
 * A statement on another table reads columns of this table through a function that the repository's file
 * exports: `usernameOf(sql`run.created_by_id`)`.
 */
export abstract class TableRepository<Row extends ObjectLiteral> extends Repository<Row> {
  protected readonly database: Database;

  constructor({
    metadata,
    manager,
    queryRunner,
  }: Pick<Repository<ObjectLiteral>, 'metadata' | 'manager' | 'queryRunner'>) {
    super(metadata.target, manager, queryRunner);
    if (!(manager instanceof AmbientManager))
      throw new Error('The manager is not that of the data source');
    this.database = manager.database;
  }

  get table(): string {
    return this.metadata.tableName;
  }

  /** Reserves ids for rows whose ids must be known before they are inserted. */
  async takeIds(count: number): Promise<number[]> {
    const taken = await this.database.preparedRows<{ id: number }>(takeIds(this.table, count));
    return taken.map(({ id }) => id);
  }

  /** Reserves the id of one row, for secrets that are encrypted for this id. */
  async takeId(): Promise<number> {
    const [id] = await this.takeIds(1);
    if (id === undefined) throw new Error(`The sequence of ${this.table} gave no id`);
    return id;
  }

  /** Inserts many rows in one statement, into another table of the feature if `table` names one. */
  async insertMany(rows: readonly ColumnValues[], table = this.table): Promise<void> {
    if (rows.length > 0) await this.database.preparedRows(this.insertion(rows, table));
  }

  /** Returns the statement of `insertMany`, to be a part of another statement. */
  protected insertion(rows: readonly ColumnValues[], table = this.table): Sql {
    return insertRows(this.database.dataSource.getMetadata(table), rows);
  }

  protected async countOlder(old: OldRows): Promise<number> {
    const row = await this.database.row<{ total: number }>(sql`
      SELECT count(*)::int AS total ${this.olderThan(old)}`);
    return row?.total ?? 0;
  }

  /**
   * Deletes up to `max` old rows, the oldest first. Skips rows that other transactions have locked.
   *
   * @returns the number of deleted rows
   */
  protected removeOlder(old: OldRows, max: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM ${ident(this.table)} WHERE ctid = ANY(ARRAY(
        SELECT t.ctid ${this.olderThan(old)}
        ORDER BY ${ident('t', old.column)} LIMIT ${max} FOR UPDATE OF t SKIP LOCKED))`);
  }

  private olderThan({ column, days, condition = TRUE }: OldRows): Sql {
    return sql`FROM ${ident(this.table)} t
      WHERE ${ident('t', column)} < now() - make_interval(days => ${days}::int) AND ${condition}`;
  }
}

export { InjectRepository } from '@nestjs/typeorm';
export type { Repository } from 'typeorm';
