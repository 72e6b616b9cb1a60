import pg from 'pg';

import type { ThrowawayServices } from '../../../scripts/services/throwaway.mjs';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** Database server that tests may kill. */
export type DatabaseServer = Pick<ThrowawayServices, 'databaseUrl' | 'halt' | 'resume' | 'stop'>;

/** Database of a cluster, on the server of the test run or on its own server that may be killed. */
export class ClusterDatabase {
  private constructor(
    private readonly database: TestDatabase,
    private readonly server: DatabaseServer | null,
    private client: pg.Client,
  ) {}

  /** @param server null for the server of the test run */
  static async start(server: DatabaseServer | null): Promise<ClusterDatabase> {
    const database = await createTestDatabase(server?.databaseUrl ?? undefined);
    return new ClusterDatabase(database, server, await connect(database.url));
  }

  get url(): string {
    return this.database.url;
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows;
  }

  /** Opens another connection, for locks. The caller closes it. */
  connect(): Promise<pg.Client> {
    return connect(this.url);
  }

  /** Kills the server without a shutdown. */
  async kill(): Promise<void> {
    await this.killable().halt('postgres', 'SIGKILL');
  }

  /** Starts the server again on the same files. */
  async resume(): Promise<void> {
    await this.killable().resume('postgres');
    this.client = await this.connect();
  }

  async stop(): Promise<void> {
    await this.client.end().catch(() => undefined);
    await (this.server ? this.server.stop() : this.database.drop());
  }

  private killable(): DatabaseServer {
    if (!this.server) throw new Error('The cluster was started without a server of its own.');
    return this.server;
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // Tests end connections on purpose, this one included.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
