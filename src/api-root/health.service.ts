import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { RedisConnection } from '../common/queue/redis-connection.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

export interface HealthState {
  ready: boolean;
  database: boolean;
  /** The API accepts work without Redis; it starts when Redis is back. */
  redis: boolean;
}

@Injectable()
export class HealthService implements BeforeApplicationShutdown {
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
  ) {}

  /** From here on `/health/ready` answers 503, so that nobody sends new requests. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  async state(): Promise<HealthState> {
    const database = await this.database
      .row(sql`SELECT 1`)
      .then(() => true)
      .catch(() => false);
    return {
      ready: database && !this.stopping,
      database,
      redis: this.redis.client.status === 'ready',
    };
  }
}
