import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { SecurityEvents } from '../common/rest/security-events.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { liveIsolations } from '../instances/live-isolations.repository.js';

interface Sample {
  label: string;
  value: number;
}

/** Numbers an operator watches, read from the truth when they are asked for. */
const GAUGES: readonly { name: string; help: string; label: string; query: Sql }[] = [
  {
    name: 'controller_active_jobs',
    help: 'Runs that have not ended, by status.',
    label: 'status',
    query: sql`
      SELECT status AS label, count(*)::int AS value FROM unified_jobs
      WHERE status IN ('new', 'pending', 'waiting', 'running') GROUP BY status`,
  },
  {
    name: 'controller_instances',
    help: 'Machines with a live worker, by what keeps their runs apart.',
    label: 'isolation',
    query: liveIsolations(),
  },
  {
    name: 'controller_outbox_rows',
    help: 'Work that is committed and not done yet, by queue.',
    label: 'queue',
    query: sql`SELECT queue AS label, count(*)::int AS value FROM outbox GROUP BY queue`,
  },
  {
    name: 'controller_outbox_oldest_seconds',
    help: 'Age of the oldest work that is due, by queue.',
    label: 'queue',
    query: sql`
      SELECT queue AS label, EXTRACT(epoch FROM now() - min(run_at))::float8 AS value
      FROM outbox WHERE run_at <= now() GROUP BY queue`,
  },
  {
    name: 'controller_pending_notifications',
    help: 'Notifications that were not tried yet, by type.',
    label: 'notification_type',
    query: sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'pending' GROUP BY notification_type`,
  },
  {
    name: 'controller_retrying_notifications',
    help: 'Notifications that failed and are tried again, by type.',
    label: 'notification_type',
    query: sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'failed' AND next_attempt_at IS NOT NULL GROUP BY notification_type`,
  },
  {
    name: 'controller_open_breakers',
    help: 'Destinations that failed too often to be called now, by what is sent there.',
    label: 'kind',
    query: sql`
      SELECT coalesce(nullif(split_part(destination, ' ', 2), ''), 'status_post') AS label,
        count(*)::int AS value
      FROM outbound_breakers WHERE open_until > now() GROUP BY 1`,
  },
];

@Injectable()
export class MetricsService {
  private readonly registry = new Registry();

  constructor(
    private readonly database: Database,
    events: SecurityEvents,
  ) {
    collectDefaultMetrics({ register: this.registry });
    this.registry.registerMetric(events.counter);
    for (const { name, help, label, query } of GAUGES) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [this.registry],
        collect: async () => {
          gauge.reset();
          for (const sample of await this.database.rows<Sample & Record<string, unknown>>(query)) {
            gauge.set({ [label]: sample.label }, sample.value);
          }
        },
      });
    }
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Text in the format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** The same as JSON, for the command-line client. */
  json(): Promise<object[]> {
    return this.registry.getMetricsAsJSON();
  }
}
