import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { rowCount, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { HostMetric } from './host-metric.entity.js';

const MARK_DELETED = sql`deleted = true, deleted_counter = deleted_counter + 1, last_deleted = now(),
  modified = now()`;

/** Returns the month of an instant, as its first day. */
const monthOf = (instant: Sql): Sql =>
  sql`date_trunc('month', ${instant} AT TIME ZONE 'UTC')::date`;

/**
 * Returns a query for the monthly metrics from the month of `since` on, or from the first job on. The
 * columns are those of the monthly summary without `id`: `date`, `license_consumed`, `hosts_added`,
 * `hosts_deleted`.
 */
export const metricsByMonth = (since: Sql): Sql => sql`
  SELECT to_char(month, 'YYYY-MM-DD') AS date,
    (count(*) FILTER (WHERE NOT metric.deleted
      OR ${monthOf(sql`metric.last_deleted`)} > month))::int AS license_consumed,
    (count(*) FILTER (WHERE ${monthOf(sql`metric.first_automation`)} = month))::int AS hosts_added,
    (count(*) FILTER (WHERE metric.deleted
      AND ${monthOf(sql`metric.last_deleted`)} = month))::int AS hosts_deleted
  FROM generate_series(
    coalesce(${since}, (SELECT ${monthOf(sql`min(first_automation)`)} FROM host_metrics))::timestamp,
    ${monthOf(sql`now()`)}::timestamp, interval '1 month') month
  JOIN host_metrics metric ON ${monthOf(sql`metric.first_automation`)} <= month
  GROUP BY month`;

@Injectable()
export class HostMetricsRepository extends TableRepository<RowOf<HostMetric>> {
  constructor(@InjectRepository(HostMetric) repository: Repository<HostMetric>) {
    super(repository);
  }

  /**
   * Counts a job for each of its hosts, in one statement. Rows are locked in the order of names, so
   * that jobs that end at the same time cannot deadlock.
   */
  async countJob(hostNames: Iterable<string>): Promise<void> {
    const names = [...hostNames];
    if (names.length === 0) return;
    await this.database.execute(sql`
      INSERT INTO host_metrics (hostname, automated_counter)
      SELECT hostname, 1 FROM (
        SELECT DISTINCT lower(name) AS hostname FROM unnest(${names}::text[]) AS name) touched
      ORDER BY hostname
      ON CONFLICT (hostname) DO UPDATE SET last_automation = now(), deleted = false,
        automated_counter = host_metrics.automated_counter + 1, modified = now()`);
  }

  /** Marks a host as deleted, unless the host is already marked. */
  async markDeleted(id: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE host_metrics SET ${MARK_DELETED} WHERE id = ${id} AND NOT deleted`);
  }

  /**
   * Marks the hosts that had no job in the last `months` months as deleted.
   *
   * @returns number of hosts, at most `limit`
   */
  markInactive(months: number, limit: number): Promise<number> {
    return this.database.execute(sql`
      UPDATE host_metrics SET ${MARK_DELETED} WHERE id IN (
        SELECT id FROM host_metrics
        WHERE NOT deleted AND last_automation < now() - make_interval(months => ${months})
        LIMIT ${rowCount(limit)} FOR UPDATE SKIP LOCKED)`);
  }

  /**
   * Deletes the rows of hosts that were marked as deleted more than `months` months ago.
   *
   * @returns number of hosts, at most `limit`
   */
  removeDeleted(months: number, limit: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM host_metrics WHERE id IN (
        SELECT id FROM host_metrics
        WHERE deleted AND last_deleted < now() - make_interval(months => ${months})
        LIMIT ${rowCount(limit)} FOR UPDATE SKIP LOCKED)`);
  }
}
