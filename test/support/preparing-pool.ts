import type { Pool, PoolClient } from 'pg';

import type { Database } from '../../src/database/database.js';

interface Query {
  text: string;
}

type Done = (error: Error | null, result?: object) => void;

const NO_ROWS = { rows: [], rowCount: 0, command: '' };

/** Statements about the transaction itself, which nothing prepares. */
const CONTROL = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET)\b/;

/**
 * Stands where the pool of a database stood: has PostgreSQL parse and analyse every statement, and
 * runs none. All of them answer that there are no rows.
 */
export class PreparingPool {
  /** Texts that were sent, in order. */
  readonly statements: string[] = [];
  /** Those that PostgreSQL took: to prepare one again tells nothing. */
  private readonly taken = new Set<string>();
  private prepared = 0;

  private constructor(private readonly client: PoolClient) {}

  /** Takes over a database: what is sent to it from now on is only prepared. */
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

  /** @param done what is told of the answer, where it is not waited for */
  query(query: Query | string, done?: Done): Promise<object> {
    const answer = this.prepare(query);
    if (done) {
      answer.then(
        (result) => done(null, result),
        (error: Error) => done(error),
      );
    }
    return answer;
  }

  private async prepare(query: Query | string): Promise<object> {
    const text = typeof query === 'string' ? query : query.text;
    if (CONTROL.test(text)) return NO_ROWS;
    this.statements.push(text);
    if (!this.taken.has(text)) {
      // What is asked at the same moment must not meet under one name.
      const name = `sample_${++this.prepared}`;
      await this.client.query(`PREPARE ${name} AS ${text}`).catch((error: Error) => {
        throw new Error(`${error.message} in:\n${text}`, { cause: error });
      });
      await this.client.query(`DEALLOCATE ${name}`);
      this.taken.add(text);
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
