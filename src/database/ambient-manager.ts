import { EntityManager } from 'typeorm';
import type { Database } from './database.js';

/** The part of a client of node-postgres that a query runner uses. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * Entity manager of all repositories. Its query runner connects to the client of the open transaction or
 * to the pool, statement by statement, so that they join the caller's transaction and are counted with its
 * own.
 */
export class AmbientManager extends EntityManager {
  constructor(readonly database: Database) {
    const connection: Connection = {
      query: (text, values = []) => database.run({ text, values }),
    };
    const runner = database.dataSource.createQueryRunner();
    Object.assign(runner, { connect: () => Promise.resolve(connection) });
    // Locks ask whether there is a transaction.
    Object.defineProperty(runner, 'isTransactionActive', { get: () => database.inTransaction });
    super(database.dataSource, runner);
  }
}
