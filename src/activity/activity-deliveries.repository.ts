import { Injectable } from '@nestjs/common';
import type { Settings } from '../config/settings.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { changedSetting } from '../settings/settings.repository.js';
import { ActivityDelivery } from './activity-delivery.entity.js';
import type { DescribedEntry } from './activity.repository.js';

/** Activity entry in the form in which a log aggregator receives it. */
export interface SentEntry extends Pick<
  DescribedEntry,
  'id' | 'object1' | 'object1_id' | 'object1_name' | 'object2' | 'object2_id' | 'object2_name'
> {
  timestamp: string;
  operation: string;
  object_association: string;
  organization_id: number | null;
  actor_id: number | null;
  /** Username of the author at the time of the change; null if no user account made it. */
  actor: string | null;
  changes: unknown;
}

type AggregatorDefaults = Pick<Settings, 'LOG_AGGREGATOR_ENABLED' | 'LOG_AGGREGATOR_LOGGERS'>;

/**
 * Returns a statement that inserts activity entries and, if the log aggregator receives them, their
 * deliveries.
 */
export const insertWithDeliveries = (insert: Sql, defaults: AggregatorDefaults): Sql => sql`
  WITH added AS (${insert} RETURNING id)
  INSERT INTO activity_deliveries (entry_id) SELECT id FROM added
  WHERE coalesce((${changedSetting('LOG_AGGREGATOR_ENABLED')})::text::boolean,
      ${defaults.LOG_AGGREGATOR_ENABLED}::boolean)
    AND coalesce((${changedSetting('LOG_AGGREGATOR_LOGGERS')})::jsonb,
      ${JSON.stringify(defaults.LOG_AGGREGATOR_LOGGERS)}::jsonb) ? 'activity_stream'`;

/** Activity entries that wait for the log aggregator. */
@Injectable()
export class ActivityDeliveriesRepository extends TableRepository<ActivityDelivery> {
  constructor(@InjectRepository(ActivityDelivery) repository: Repository<ActivityDelivery>) {
    super(repository);
  }

  /** Returns up to `limit` waiting entries, the oldest first. */
  next(limit: number): Promise<SentEntry[]> {
    return this.database.rows<SentEntry>(sql`
      SELECT entry.id, entry.timestamp, entry.operation, entry.object1, entry.object1_id,
        entry.object1_name, entry.object2, entry.object2_id, entry.object2_name,
        entry.object_association, entry.organization_id, entry.actor_id,
        entry.actor_snapshot ->> 'username' AS actor, entry.changes
      FROM activity_deliveries delivery
      JOIN activity_stream entry ON entry.id = delivery.entry_id
      ORDER BY delivery.entry_id LIMIT ${limit}`);
  }

  /** Removes entries that the log aggregator has received. */
  async removeSent(ids: readonly number[]): Promise<void> {
    await this.database.execute(
      sql`DELETE FROM activity_deliveries WHERE entry_id = ANY(${ids}::bigint[])`,
    );
  }

  /** Removes deliveries of entries that were deleted before they were sent. */
  async removeOrphans(): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM activity_deliveries delivery WHERE NOT EXISTS (
        SELECT 1 FROM activity_stream entry WHERE entry.id = delivery.entry_id)`);
  }

  /** Returns the age in seconds of the oldest waiting entry; 0 if none waits. */
  async secondsWaiting(): Promise<number> {
    const row = await this.database.row<{ seconds: number }>(sql`
      SELECT EXTRACT(epoch FROM now() - entry.timestamp)::float8 AS seconds
      FROM activity_deliveries delivery
      JOIN activity_stream entry ON entry.id = delivery.entry_id
      ORDER BY delivery.entry_id LIMIT 1`);
    return row?.seconds ?? 0;
  }
}
