import type { QueryResultRow } from 'pg';
import type { Database } from './database.js';
import type { Sql } from './sql.js';

interface Question {
  statement: Sql;
  take: (rows: never[]) => void;
  fail: (reason: unknown) => void;
}

/**
 * Reading statements that are asked for at the same moment, sent as one: a statement costs more to
 * send and to answer than the few rows it finds. What waits for an answer before it asks is sent by
 * itself.
 */
export class Together {
  private waiting: Question[] = [];

  constructor(private readonly database: Pick<Database, 'together'>) {}

  /** Rows as JSON has them: instants have the offset `+00:00` (`instantOf`). */
  ask<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      if (this.waiting.length === 0) queueMicrotask(() => void this.send());
      this.waiting.push({ statement, take: resolve, fail: reject });
    });
  }

  private async send(): Promise<void> {
    const asked = this.waiting;
    this.waiting = [];
    try {
      const found = await this.database.together<never>(asked.map(({ statement }) => statement));
      asked.forEach(({ take }, place) => take(found[place] ?? []));
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }
}
