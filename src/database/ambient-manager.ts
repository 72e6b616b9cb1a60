import { EntityManager } from 'typeorm';
import type { Database } from './database.js';

/** Part of a node-postgres client that a query runner uses. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * Entity manager of all repositories. Its query runner connects to the client of the open transaction or
 * to the pool, statement by statement, so that statements of repositories join the caller's transaction and
 * are counted with its other statements.
 */
export class AmbientManager extends EntityManager {
  constructor(readonly database: Database) {
    const connection: Connection = {
      query: (text, values = []) => database.run({ text, values }),
    };
    const runner = database.dataSource.createQueryRunner();
    Object.assign(runner, { connect: () => Promise.resolve(connection) });
    // TypeORM rejects locks unless the query runner reports a transaction.
    Object.defineProperty(runner, 'isTransactionActive', { get: () => database.inTransaction });
    super(database.dataSource, runner);
  }
}
