import { Injectable } from '@nestjs/common';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { LogForwarding } from './log-forwarding.entity.js';

/** Lease of the worker that sends activity entries, and the count of dropped records. */
@Injectable()
export class LogForwardingRepository extends TableRepository<LogForwarding> {
  constructor(@InjectRepository(LogForwarding) repository: Repository<LogForwarding>) {
    super(repository);
  }

  /** Takes or renews the lease. @returns false if another worker holds it */
  async takeLease(holder: string, seconds: number): Promise<boolean> {
    return this.database.affects(sql`
      INSERT INTO log_forwarding AS state (id, holder, lease_until)
      VALUES (1, ${holder}, now() + make_interval(secs => ${seconds}))
      ON CONFLICT (id) DO UPDATE SET holder = EXCLUDED.holder, lease_until = EXCLUDED.lease_until
      WHERE state.holder = EXCLUDED.holder OR state.lease_until IS NULL
        OR state.lease_until < now()`);
  }

  /** Ends the lease, so that another worker can continue immediately. */
  async release(holder: string): Promise<void> {
    await this.database.execute(
      sql`UPDATE log_forwarding SET lease_until = NULL WHERE holder = ${holder}`,
    );
  }

  /** Adds to the number of dropped records. */
  async addDropped(count: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO log_forwarding AS state (id, dropped) VALUES (1, ${count})
      ON CONFLICT (id) DO UPDATE SET dropped = state.dropped + EXCLUDED.dropped`);
  }

  /** Returns the number of dropped records. */
  async dropped(): Promise<number> {
    const row = await this.database.row<{ dropped: number }>(
      sql`SELECT dropped FROM log_forwarding`,
    );
    return row?.dropped ?? 0;
  }
}
