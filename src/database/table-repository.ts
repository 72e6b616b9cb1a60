import { Repository, type ObjectLiteral } from 'typeorm';
import type { Database } from './database.js';
import { insertRows, takeIds } from './rows.js';

/** A row of a table whose repository does not say more. */
export type TableRow = Record<string, unknown>;

/**
 * The only code that names a table (docs/decisions/0051-repositories.md): a TypeORM repository whose
 * statements join the ambient transaction. Writes of single rows are TypeORM's `insert`, `update` and
 * `delete`; `existsBy` and `countBy` ask. What is listed, joined or many is a method with SQL that
 * `this.database` runs, and so is what reads rows with instants: TypeORM would cut them to
 * milliseconds.
 *
 * What a statement about another table needs of this one is a fragment, a function that the file
 * exports: `usernameOf(sql`run.created_by_id`)`.
 */
export abstract class TableRepository<
  Row extends ObjectLiteral = TableRow,
> extends Repository<Row> {
  constructor(
    protected readonly database: Database,
    readonly table: string,
  ) {
    super(table, database.manager, database.manager.queryRunner);
  }

  /** Takes ids for rows whose ids must be known before they are inserted. */
  async takeIds(count: number): Promise<number[]> {
    const taken = await this.database.preparedRows<{ id: number }>(takeIds(this.table, count));
    return taken.map(({ id }) => id);
  }

  /** Takes the id of one row, for secrets that are sealed for it. */
  async takeId(): Promise<number> {
    const [id] = await this.takeIds(1);
    if (id === undefined) throw new Error(`The sequence of ${this.table} gave no id`);
    return id;
  }

  /**
   * Inserts many rows in one statement.
   *
   * @param columns column name to PostgreSQL type, in the order of each row's values
   */
  async insertMany(
    columns: Readonly<Record<string, string>>,
    rows: readonly (readonly unknown[])[],
  ): Promise<void> {
    await this.database.preparedRows(insertRows(this.table, columns, rows));
  }
}
