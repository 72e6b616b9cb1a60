import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { HttpAdapter } from '../common/http/http-adapter.js';
import { RedisConnection } from '../common/queue/redis-connection.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

export interface HealthState {
  ready: boolean;
  database: boolean;
  /** True if all migrations of this version have run. */
  schema: boolean;
  /** True if Redis is connected. Without Redis the API accepts work, which starts when Redis is back. */
  redis: boolean;
}

@Injectable()
export class HealthService {
  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
    private readonly host: HttpAdapterHost<HttpAdapter>,
  ) {}

  /**
   * Returns the health. A process that is shutting down is not ready, so that new requests go to another
   * process.
   */
  async state(): Promise<HealthState> {
    const database = await this.database
      .row(sql`SELECT 1`)
      .then(() => true)
      .catch(() => false);
    const schema = database && (await this.isMigrated().catch(() => false));
    return {
      ready: schema && !this.host.httpAdapter.isEnding,
      database,
      schema,
      redis: this.redis.client.status === 'ready',
    };
  }

  private async isMigrated(): Promise<boolean> {
    const name = this.database.dataSource.migrations.at(-1)?.name;
    return this.database.exists(sql`SELECT 1 FROM migrations WHERE name = ${name}`);
  }
}
