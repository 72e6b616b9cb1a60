import type { EntityManager } from 'typeorm';
import type { Database } from './database.js';

/** What of a client of node-postgres a query runner uses. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * The one entity manager. Its query runner owns no connection: each statement goes where those of
 * the caller go, to the client of the open transaction or to the pool, and is counted with them.
 */
export function ambientManager(database: Database): EntityManager {
  const connection: Connection = {
    query: (text, values = []) => database.run({ text, values }),
  };
  const runner = database.dataSource.createQueryRunner();
  Object.assign(runner, { databaseConnection: connection });
  // Locks ask whether there is a transaction.
  Object.defineProperty(runner, 'isTransactionActive', { get: () => database.inTransaction });
  return database.dataSource.createEntityManager(runner);
}
