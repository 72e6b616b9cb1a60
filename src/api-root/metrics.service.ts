import { Injectable } from '@nestjs/common';
import {
  collectDefaultMetrics,
  Gauge,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import { ActivityDeliveriesRepository } from '../activity/activity-deliveries.repository.js';
import { BreakersRepository } from '../outbound/breakers.repository.js';
import { OutboxRepository } from '../common/queue/outbox.repository.js';
import { GroupMember } from '../common/processes/group-member.js';
import { SecurityEvents } from '../common/rest/security-events.service.js';
import { InstancesRepository } from '../instances/instances.repository.js';
import { LogForwardingRepository } from '../logging/log-forwarding.repository.js';
import { NotificationsRepository } from '../notifications/notifications.repository.js';
import { RunOverviewsRepository } from '../runs/run-overviews.repository.js';

interface Sample {
  label: string;
  value: number;
}

/** Metric that is read from the database on each request. */
interface DatabaseMetric {
  name: string;
  help: string;
  label: string;
  samples: () => Promise<readonly Sample[]>;
}

/** Metrics of all processes, and metrics that one process reads from the database. */
@Injectable()
export class MetricsService {
  private readonly databaseMetrics = new Registry();

  constructor(
    private readonly instances: InstancesRepository,
    private readonly runs: RunOverviewsRepository,
    private readonly outbox: OutboxRepository,
    private readonly notifications: NotificationsRepository,
    private readonly breakers: BreakersRepository,
    private readonly deliveries: ActivityDeliveriesRepository,
    private readonly forwarding: LogForwardingRepository,
    private readonly processes: GroupMember,
    events: SecurityEvents,
  ) {
    collectDefaultMetrics({ register: processes.measured });
    processes.measured.registerMetric(events.counter);
    for (const metric of [...this.runMetrics(), ...this.logMetrics()]) this.register(metric);
  }

  private register({ name, help, label, samples }: DatabaseMetric): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.databaseMetrics],
      collect: async () => {
        const values = await samples();
        // Reset only after the query: a concurrent scrape would otherwise find no values.
        gauge.reset();
        for (const sample of values) gauge.set({ [label]: sample.label }, sample.value);
      },
    });
  }

  private runMetrics(): DatabaseMetric[] {
    return [
      {
        name: 'controller_active_jobs',
        help: 'Runs that have not ended, by status.',
        label: 'status',
        samples: () => this.runs.countActive(),
      },
      {
        name: 'controller_instances',
        help: 'Machines with a live worker, by the isolation of their runs.',
        label: 'isolation',
        samples: () => this.instances.isolations(),
      },
      {
        name: 'controller_outbox_rows',
        help: 'Work that is committed and not done yet, by queue.',
        label: 'queue',
        samples: () => this.outbox.countByQueue(),
      },
      {
        name: 'controller_outbox_oldest_seconds',
        help: 'Age of the oldest work that is due, by queue.',
        label: 'queue',
        samples: () => this.outbox.secondsDueByQueue(),
      },
      {
        name: 'controller_pending_notifications',
        help: 'Notifications without an attempt, by type.',
        label: 'notification_type',
        samples: () => this.notifications.countPending(),
      },
      {
        name: 'controller_retrying_notifications',
        help: 'Failed notifications with a planned retry, by type.',
        label: 'notification_type',
        samples: () => this.notifications.countRetrying(),
      },
      {
        name: 'controller_open_breakers',
        help: 'Destinations with an open circuit breaker, by the kind of outbound request.',
        label: 'kind',
        samples: () => this.breakers.countOpen(),
      },
    ];
  }

  private logMetrics(): DatabaseMetric[] {
    return [
      {
        name: 'controller_log_records_waiting',
        help: 'Records that wait for the log aggregator, by source.',
        label: 'source',
        samples: async () => [
          { label: 'activity_stream', value: await this.deliveries.countBy({}) },
        ],
      },
      {
        name: 'controller_log_records_oldest_seconds',
        help: 'Age of the oldest record that waits for the log aggregator, by source.',
        label: 'source',
        samples: async () => [
          { label: 'activity_stream', value: await this.deliveries.secondsWaiting() },
        ],
      },
      {
        name: 'controller_log_records_dropped_total',
        help: 'Records that were dropped, because the buffer was full or the log aggregator refused them.',
        label: 'source',
        samples: async () => [{ label: 'buffer', value: await this.forwarding.dropped() }],
      },
    ];
  }

  get contentType(): string {
    return this.databaseMetrics.contentType;
  }

  /** Returns the metrics in the Prometheus text format. */
  async text(): Promise<string> {
    return (await this.registry()).metrics();
  }

  /** Returns the metrics as JSON, for the command-line client. */
  async json(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
    return (await this.registry()).getMetricsAsJSON();
  }

  private async registry(): Promise<Registry> {
    return Registry.merge([await this.processes.gather(), this.databaseMetrics]);
  }
}
