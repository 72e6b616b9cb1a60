import type { Pool, PoolClient } from 'pg';

import type { Database } from '../../src/database/database.js';

interface Query {
  text: string;
}

type Done = (error: Error | null, result?: object) => void;

const NO_ROWS = { rows: [], rowCount: 0, command: '' };

/** Statements that control the transaction, which cannot be prepared. */
const CONTROL = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET)\b/;

/**
 * Replaces the connection pool of a database: PostgreSQL parses and analyzes every statement, but executes
 * none. Every result is empty.
 */
export class PreparingPool {
  /** Sent texts, in order. */
  readonly statements: string[] = [];
  /** Texts that PostgreSQL accepted, which need no second check. */
  private readonly accepted = new Set<string>();
  private prepared = 0;

  private constructor(private readonly client: PoolClient) {}

  /** Replaces the pool of a database, whose statements from now on are only prepared. */
  static async of(database: Database): Promise<{ pool: PreparingPool; release: () => void }> {
    const driver = database.dataSource.driver as unknown as { master: Pool };
    const { master } = driver;
    const client = await master.connect();
    const pool = new PreparingPool(client);
    driver.master = pool as unknown as Pool;
    const release = (): void => {
      driver.master = master;
      client.release();
    };
    return { pool, release };
  }

  /** @param done receives the result if the promise is not awaited */
  query(query: Query | string, done?: Done): Promise<object> {
    const result = this.prepare(query);
    if (done) {
      result.then(
        (value) => done(null, value),
        (error: Error) => done(error),
      );
    }
    return result;
  }

  private async prepare(query: Query | string): Promise<object> {
    const text = typeof query === 'string' ? query : query.text;
    if (CONTROL.test(text)) return NO_ROWS;
    this.statements.push(text);
    if (!this.accepted.has(text)) {
      // Concurrent statements need different names.
      const name = `sample_${++this.prepared}`;
      await this.client.query(`PREPARE ${name} AS ${text}`).catch((error: Error) => {
        throw new Error(`${error.message} in:\n${text}`, { cause: error });
      });
      await this.client.query(`DEALLOCATE ${name}`);
      this.accepted.add(text);
    }
    return NO_ROWS;
  }

  connect(callback: (error: Error | undefined, client: object) => void): void {
    const nothing = (): void => undefined;
    callback(undefined, {
      connection: this.client.connection,
      query: (query: Query | string, done?: Done) => this.query(query, done),
      on: nothing,
      off: nothing,
      release: nothing,
    });
  }
}
