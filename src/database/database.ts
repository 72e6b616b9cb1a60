import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import pg, {
  type Client,
  type Pool,
  type PoolClient,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import type { DataSource } from 'typeorm';
import { withRetries } from './attempts.js';
import { AmbientManager } from './ambient-manager.js';
import { OpenTransaction, TIMEOUT_REPORT_MS } from './open-transaction.js';
import { sqlState, STALE_PLAN, isDriverTimeout, isStandby } from './sql-state.js';
import { join, raw, sql, withShortLists, type Sql } from './sql.js';

/**
 * The open transactions of all databases of the process. One storage for all: each `AsyncLocalStorage`
 * adds to the cost of every promise.
 */
const transactions = new AsyncLocalStorage<OpenTransaction>();

export type Statement = Sql | QueryConfig;

/** Maximum number of prepared statements; each takes memory in every connection. */
const MAX_PREPARED = 500;

/** Timeout of one statement of a deletion, unless that of other statements is longer. */
const DELETION_TIMEOUT_MS = 300_000;

/** Error for a statement that must have a row and has none. */
export class MissingRow extends Error {}

/**
 * Sends all statements to the database. Statements join the caller's open transaction; `transaction` joins
 * it or opens a new one. Statements of a transaction that do not wait for each other are pipelined, and
 * PostgreSQL runs them in that order (docs/decisions/0098-transactions.md).
 */
@Injectable()
export class Database {
  private readonly logger = new Logger('Database');
  /** Number of statements sent by this process, for tests of constant query counts. */
  statementCount = 0;
  /** Names of prepared statements by their text. */
  private readonly prepared = new Map<string, string>();
  private lastName = 0;
  private ambient: AmbientManager | undefined;
  /** Runs first in every transaction that can write. Its rejection fails the transaction. */
  onBegin: () => Promise<void> = async () => {};

  constructor(readonly dataSource: DataSource) {}

  /** Entity manager of TypeORM. Its statements join the open transaction, too. */
  get manager(): AmbientManager {
    return (this.ambient ??= new AmbientManager(this));
  }

  /** Pool of TypeORM's driver. TypeORM itself has no named prepared statements. */
  private get pool(): Pool {
    return Reflect.get(this.dataSource.driver, 'master') as Pool;
  }

  async rows<Row extends QueryResultRow>(statement: Statement): Promise<Row[]> {
    return (await this.run<Row>(statement)).rows;
  }

  async row<Row extends QueryResultRow>(statement: Statement): Promise<Row | undefined> {
    return (await this.run<Row>(statement)).rows[0];
  }

  /**
   * Returns the row of a statement that always has one, such as an aggregate.
   *
   * @throws MissingRow if the statement has no row
   */
  async rowOrFail<Row extends QueryResultRow>(statement: Statement): Promise<Row> {
    const row = await this.row<Row>(statement);
    if (row === undefined) throw new MissingRow('A statement that must have a row has none.');
    return row;
  }

  /** Returns true if a statement changes a row. */
  async affects(statement: Statement): Promise<boolean> {
    return (await this.execute(statement)) > 0;
  }

  /** Returns true if a statement selects or returns a row. */
  async exists(statement: Statement): Promise<boolean> {
    return (await this.row(statement)) !== undefined;
  }

  /** Returns the ids that a statement selects. */
  async ids(statement: Statement): Promise<number[]> {
    return (await this.run<{ id: number }>(statement)).rows.map(({ id }) => id);
  }

  /**
   * Returns the rows of a prepared statement, which each connection plans once. Use it for frequent texts,
   * such as reads of objects by id. Do not use it for filters, whose best plan depends on the values.
   */
  async preparedRows<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    const query = withShortLists(statement).toQuery();
    const name = this.preparedName(query.text);
    if (name === undefined) return (await this.run<Row>(query)).rows;
    try {
      return (await this.run<Row>({ ...query, name })).rows;
    } catch (error) {
      if (sqlState(error) !== STALE_PLAN) throw error;
      // A migration changed the table. A new name makes PostgreSQL plan again.
      this.prepared.clear();
      if (this.inTransaction) throw error;
      return (await this.run<Row>(query)).rows;
    }
  }

  /** Returns the name of a statement; undefined at the limit, for a statement without a name. */
  private preparedName(text: string): string | undefined {
    const existingName = this.prepared.get(text);
    if (existingName !== undefined || this.prepared.size >= MAX_PREPARED) return existingName;
    const name = `s${++this.lastName}`;
    this.prepared.set(text, name);
    return name;
  }

  /**
   * Returns the rows of several reading statements, which are sent as one prepared statement. Values are
   * those of JSON: instants have the offset `+00:00`.
   */
  async rowsOfEach<Row extends QueryResultRow>(parts: readonly Sql[]): Promise<Row[][]> {
    if (parts.length === 0) return [];
    const numbered = parts.map(
      (part, index) => sql`
        SELECT ${raw(String(index))} AS place, json_agg(part) AS found FROM (${part}) part`,
    );
    const rows = await this.preparedRows<{ place: number; found: Row[] | null }>(
      join(numbered, ' UNION ALL '),
    );
    return parts.map((_part, at) => rows.find(({ place }) => place === at)?.found ?? []);
  }

  async preparedRow<Row extends QueryResultRow>(statement: Sql): Promise<Row | undefined> {
    return (await this.preparedRows<Row>(statement))[0];
  }

  /** Runs a statement and returns the number of changed rows. */
  async execute(statement: Statement): Promise<number> {
    return (await this.run(statement)).rowCount ?? 0;
  }

  /**
   * Defers the result of a statement to the commit: an error fails the transaction. Without a
   * transaction, waits for the result.
   */
  async deferToCommit(result: Promise<unknown>): Promise<void> {
    const open = this.open;
    if (open) open.defer(result);
    else await result;
  }

  /** The open transaction of the caller in this database. */
  private get open(): OpenTransaction | undefined {
    const open = transactions.getStore();
    return open?.owner === this ? open : undefined;
  }

  get inTransaction(): boolean {
    return this.open !== undefined;
  }

  /** Key of the open transaction, for caches that last as long as the transaction. */
  get transactionKey(): object {
    const open = this.open;
    if (!open) throw new Error('This needs a transaction');
    return open;
  }

  /** Runs `work` in the open transaction, or in a new one, which `withRetries` can run several times. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    if (this.inTransaction) return work();
    return withRetries(() => this.begin(() => this.onBegin().then(work)));
  }

  /**
   * Runs reading `work` with a timeout for each statement. PostgreSQL ends a slower statement with
   * SQLSTATE 57014. An open transaction stays usable.
   */
  async withStatementTimeout<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
    const limit = `SET LOCAL statement_timeout = ${Math.trunc(milliseconds)}`;
    if (!this.inTransaction) return this.begin(work, `BEGIN READ ONLY; ${limit}`);
    return this.savepoint(async () => {
      await this.run({ text: limit });
      const result = await work();
      await this.run({ text: 'SET LOCAL statement_timeout TO DEFAULT' });
      return result;
    });
  }

  /** Runs reading `work` on one state of the database: none of its statements sees a later commit. */
  withSnapshot<T>(work: () => Promise<T>): Promise<T> {
    return this.begin(work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  /** Runs `work` after a savepoint: an expected conflict leaves the transaction usable. */
  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const open = this.open;
    if (!open) return this.transaction(work);
    const name = `sp_${++open.savepoints}`;
    const { length: before } = open.beforeCommit;
    const { length: after } = open.afterCommit;
    await open.settle();
    await open.send(`SAVEPOINT ${name}`);
    try {
      const result = await work();
      await open.settle();
      await open.send(`RELEASE SAVEPOINT ${name}`);
      return result;
    } catch (error) {
      await open.waitForDeferred();
      await open.send(`ROLLBACK TO SAVEPOINT ${name}`);
      // Removes the hooks of the work that was rolled back.
      open.beforeCommit.length = before;
      open.afterCommit.length = after;
      throw open.takeFailure(error);
    }
  }

  /**
   * Prepares the open transaction for a deletion, which also changes all rows that refer to the deleted rows, for
   * example the runs of a template. Its statements have more time. Foreign keys are checked at the commit: a cascade
   * can reach a row by several references, and PostgreSQL would check all of them at each step.
   */
  async prepareDeletion(): Promise<void> {
    const timeout = Math.max(DELETION_TIMEOUT_MS, Number(this.pool.options.statement_timeout));
    const text = `SET CONSTRAINTS ALL DEFERRED; SET LOCAL statement_timeout = ${timeout}`;
    this.open?.extendDriverTimeout(timeout + TIMEOUT_REPORT_MS);
    await this.deferToCommit(this.run({ text }));
  }

  /** Registers work for the end of the transaction, still inside it. Runs in order of registration. */
  beforeCommit(work: () => Promise<void>): void {
    const open = this.open;
    if (!open) throw new Error('beforeCommit needs a transaction');
    open.beforeCommit.push(work);
  }

  /**
   * Registers work that runs after the commit, or immediately without a transaction. A failure of the
   * work is only logged, because the transaction is committed already.
   */
  afterCommit(work: () => void): void {
    const open = this.open;
    if (open) open.afterCommit.push(work);
    else this.runAfterCommit([work]);
  }

  /**
   * Runs work with a connection of its own, outside of the pool and of any transaction, for session-level
   * locks: work that takes long must not take connections from other statements.
   */
  async withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(this.pool.options);
    // The next statement fails with the reason.
    client.on('error', ignore);
    await client.connect();
    try {
      return await work(client);
    } finally {
      client.end(ignore);
    }
  }

  /** Takes a client from the pool. The client can lose its connection between two statements. */
  private connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      // The pool handles errors of idle clients only; an unhandled error would end the process. The next
      // statement on the client fails with the reason. A callback, because the connection can end before
      // a promise continues.
      this.pool.connect((error, client) => {
        if (!client) return reject(error ?? new Error('The pool gave no client'));
        client.on('error', ignore);
        resolve(client);
      });
    });
  }

  private async begin<T>(work: () => Promise<T>, opening = 'BEGIN'): Promise<T> {
    const open = new OpenTransaction(this, await this.connect());
    const result = await this.commit(open, work, opening);
    this.runAfterCommit(open.afterCommit);
    return result;
  }

  private async commit<T>(open: OpenTransaction, work: () => Promise<T>, opening: string) {
    const { client } = open;
    let broken: Error | undefined;
    let committed: Promise<unknown> | undefined;
    try {
      const begun = open.send(opening);
      begun.catch(ignore);
      const result = await transactions.run(open, async () => {
        const value = await work();
        for (let hook = open.beforeCommit.shift(); hook; hook = open.beforeCommit.shift()) {
          await hook();
        }
        return value;
      });
      // After a failed statement, PostgreSQL treats COMMIT as ROLLBACK.
      committed = open.send('COMMIT');
      committed.catch(ignore);
      await begun;
      await open.settle();
      await committed;
      return result;
    } catch (error) {
      // After a statement without a response, ROLLBACK would wait for the same timeout.
      if (isDriverTimeout(error)) broken = error;
      else if (committed) await committed.catch(ignore);
      else await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
      // The first failure caused the later ones.
      const cause = open.failure ?? error;
      // Another connection can reach the new primary.
      if (isStandby(cause)) broken ??= cause;
      throw cause;
    } finally {
      open.isOver = true;
      client.off('error', ignore);
      client.release(broken);
    }
  }

  /** Runs the hooks after a commit. The hooks cannot undo or repeat the committed work. */
  private runAfterCommit(hooks: readonly (() => void)[]): void {
    for (const hook of hooks) {
      try {
        hook();
      } catch (error) {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.logger.error({ message: 'work after a commit failed', error: reason });
      }
    }
  }

  /** Runs a statement and returns the result of the driver. */
  async run<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>> {
    this.statementCount++;
    const query = 'toQuery' in statement ? statement.toQuery() : statement;
    const open = this.open;
    return open ? open.send<Row>(query) : this.pool.query<Row>(query);
  }
}

function ignore(): void {}
