import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { isConsequence } from './sql-state.js';

/** Time in ms in which PostgreSQL reports that a statement timed out. */
export const TIMEOUT_REPORT_MS = 2000;

/** An open transaction with the hooks for its end. */
export class OpenTransaction {
  readonly beforeCommit: (() => Promise<void>)[] = [];
  readonly afterCommit: (() => void)[] = [];
  /** Number of savepoints so far. */
  savepoints = 0;
  isOver = false;
  /** First error of a deferred result: later statements fail because of it. */
  failure: Error | undefined;
  /** Error in a failed transaction, kept until the cause is known. */
  private consequence: Error | undefined;
  /** Deferred results; none of them rejects. */
  private deferred: Promise<unknown>[] = [];
  /** Timeout of the driver for each statement; without it, that of the connection. */
  private driverTimeout: { query_timeout: number } | undefined;

  /** @param owner database that opened the transaction */
  constructor(
    readonly owner: object,
    readonly client: PoolClient,
  ) {}

  /** Sends a statement without waiting for the results of earlier ones. */
  send<Row extends QueryResultRow>(query: string | QueryConfig): Promise<QueryResult<Row>> {
    if (this.isOver) throw new Error('The transaction has ended');
    if (!this.driverTimeout) return this.client.query<Row>(query);
    const config = typeof query === 'string' ? { text: query } : query;
    return this.client.query<Row>({ ...config, ...this.driverTimeout });
  }

  /** Lets the driver wait longer for the results of the following statements. */
  extendDriverTimeout(milliseconds: number): void {
    this.driverTimeout = { query_timeout: milliseconds };
  }

  /** Defers a result to the commit. */
  defer(result: Promise<unknown>): void {
    this.deferred.push(result.catch((error: Error) => this.recordError(error)));
  }

  /** Records an error. A cause can become known after its consequences. */
  private recordError(error: Error): void {
    if (isConsequence(error)) this.consequence ??= error;
    else this.failure ??= error;
  }

  /** Waits for all deferred results. @throws the error of the first that failed */
  async settle(): Promise<void> {
    await this.waitForDeferred();
    const failure = this.failure ?? this.consequence;
    if (failure) throw failure;
  }

  /** Waits for all deferred results and ignores their errors. */
  async waitForDeferred(): Promise<void> {
    await Promise.all(this.deferred.splice(0));
  }

  /** Returns and clears the failure after a rollback to a savepoint; the transaction continues. */
  takeFailure(error: unknown): unknown {
    const { failure = error } = this;
    this.failure = undefined;
    this.consequence = undefined;
    return failure;
  }
}
