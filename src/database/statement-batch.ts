import type { QueryResultRow } from 'pg';
import type { Database } from './database.js';
import type { Sql } from './sql.js';

interface PendingStatement {
  statement: Sql;
  resolve: (rows: never[]) => void;
  reject: (reason: unknown) => void;
}

/**
 * Combines reading statements that are requested at the same time into one: sending a statement costs
 * more than the few rows that it finds. In contrast to a `Batch`, a `StatementBatch` can serve a transaction,
 * because each request has its own.
 */
export class StatementBatch {
  private waiting: PendingStatement[] = [];

  constructor(private readonly database: Pick<Database, 'rowsOfEach'>) {}

  /** Returns rows with the values of JSON: instants have the offset `+00:00` (`instantOf`). */
  rows<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      if (this.waiting.length === 0) queueMicrotask(() => void this.send());
      this.waiting.push({ statement, resolve, reject });
    });
  }

  private async send(): Promise<void> {
    const sent = this.waiting;
    this.waiting = [];
    try {
      const results = await this.database.rowsOfEach<never>(sent.map(({ statement }) => statement));
      sent.forEach(({ resolve }, place) => resolve(results[place] ?? []));
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}
