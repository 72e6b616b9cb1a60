import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { MonthlyHostMetric } from './host-metric.entity.js';
import { metricsByMonth } from './host-metrics.repository.js';

@Injectable()
export class MonthlyHostMetricsRepository extends TableRepository<RowOf<MonthlyHostMetric>> {
  constructor(@InjectRepository(MonthlyHostMetric) repository: Repository<MonthlyHostMetric>) {
    super(repository);
  }

  /**
   * Counts new months, and counts the last stored month again, which can have been incomplete. Other
   * months do not change, because their hosts can have been deleted.
   *
   * @returns number of written months
   */
  recount(): Promise<number> {
    const last = sql`(SELECT max(date)::date FROM host_metric_summary_monthly)`;
    return this.database.execute(sql`
      INSERT INTO host_metric_summary_monthly (date, license_consumed, hosts_added, hosts_deleted)
      SELECT date, license_consumed, hosts_added, hosts_deleted FROM (${metricsByMonth(last)}) counted
      ON CONFLICT (date) DO UPDATE SET license_consumed = EXCLUDED.license_consumed,
        hosts_added = EXCLUDED.hosts_added, hosts_deleted = EXCLUDED.hosts_deleted,
        modified = now()`);
  }
}
