import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { isConsequence } from './sql-state.js';

/** A transaction on its way, and what is to be done at its end. */
export class OpenTransaction {
  readonly beforeCommit: (() => Promise<void>)[] = [];
  readonly afterCommit: (() => void)[] = [];
  /** How many there were so far. */
  savepoints = 0;
  isOver = false;
  /** What an unheard answer failed with by itself: all behind it fail because of it. */
  failure: Error | undefined;
  /** What one failed with because of another, where that is all that is known. */
  private consequence: Error | undefined;
  /** None of these rejects. */
  private unheard: Promise<unknown>[] = [];

  constructor(readonly client: PoolClient) {}

  /** Asks PostgreSQL, without waiting for the statements before. */
  ask<Row extends QueryResultRow>(query: string | QueryConfig): Promise<QueryResult<Row>> {
    if (this.isOver) throw new Error('A transaction that is over cannot go on');
    return this.client.query<Row>(query);
  }

  /** Takes an answer that nobody waits for. */
  leave(answer: Promise<unknown>): void {
    this.unheard.push(answer.catch((error: Error) => this.note(error)));
  }

  /** The reason may be known after its consequences: what asked for it may take more turns to tell. */
  private note(error: Error): void {
    if (isConsequence(error)) this.consequence ??= error;
    else this.failure ??= error;
  }

  /** Waits for what nobody has waited for. @throws what the first of it to fail failed with */
  async settle(): Promise<void> {
    await this.quiet();
    const failure = this.failure ?? this.consequence;
    if (failure) throw failure;
  }

  /** Waits for what nobody has waited for, whatever came of it. */
  async quiet(): Promise<void> {
    await Promise.all(this.unheard.splice(0));
  }

  /** What the work failed with behind a savepoint that is gone; the rest can go on. */
  takeFailure(error: unknown): unknown {
    const { failure = error } = this;
    this.failure = undefined;
    this.consequence = undefined;
    return failure;
  }
}
