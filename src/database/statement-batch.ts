import type { QueryResultRow } from 'pg';
import type { Database } from './database.js';
import type { Sql } from './sql.js';

interface PendingStatement {
  statement: Sql;
  take: (rows: never[]) => void;
  fail: (reason: unknown) => void;
}

/**
 * Combines the reading statements of one tick of the event loop into one: sending a statement costs
 * more than the few rows that it finds.
 */
export class StatementBatch {
  private waiting: PendingStatement[] = [];

  constructor(private readonly database: Pick<Database, 'rowsOfEach'>) {}

  /** Returns the rows as JSON represents them: instants have the offset `+00:00` (`instantOf`). */
  rows<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      if (this.waiting.length === 0) queueMicrotask(() => void this.send());
      this.waiting.push({ statement, take: resolve, fail: reject });
    });
  }

  private async send(): Promise<void> {
    const asked = this.waiting;
    this.waiting = [];
    try {
      const found = await this.database.rowsOfEach<never>(asked.map(({ statement }) => statement));
      asked.forEach(({ take }, place) => take(found[place] ?? []));
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }
}
