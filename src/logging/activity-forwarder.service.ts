import { randomUUID } from 'node:crypto';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import {
  ActivityDeliveriesRepository,
  type SentEntry,
} from '../activity/activity-deliveries.repository.js';
import { failPoint } from '../common/fail-point.js';
import { Repeated } from '../common/repeated-work.js';
import { LogForwardingRepository } from './log-forwarding.repository.js';
import { BATCH_SIZE, firstBatch, logRecord, type LogRecord } from './log-record.js';
import { LogTarget, RecordsRefusedError } from './log-target.service.js';

const INTERVAL_MS = 1000;
/** Maximum delay after failures. */
const MAX_DELAY_MS = 15_000;
/** Longer than the longest attempt, so that another worker never sends at the same time. */
const LEASE_SECONDS = 45;

/**
 * Sends activity entries to the log aggregator, at least once and in order (docs/logging.md). One worker
 * at a time holds the lease. A delivery is deleted only after the receiver has the entry, so that the next
 * worker sends the entries that a killed worker has not sent.
 */
@Injectable()
export class ActivityForwarder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly holder = randomUUID();
  /** Maximum number of records of the next batch. */
  private batchSize = BATCH_SIZE;
  private readonly rounds = new Repeated(() => this.sendWaiting(), {
    everyMs: INTERVAL_MS,
    maxMs: MAX_DELAY_MS,
    logger: new Logger('Logging'),
    failure: 'activity entries not sent',
  });

  constructor(
    private readonly target: LogTarget,
    private readonly deliveries: ActivityDeliveriesRepository,
    private readonly state: LogForwardingRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start(INTERVAL_MS);
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds.stop();
    await this.state.release(this.holder).catch(() => undefined);
  }

  /** Sends the waiting entries if this worker holds the lease. */
  private async sendWaiting(): Promise<void> {
    for (;;) {
      const settings = await this.target.settings();
      if (!settings.LOG_AGGREGATOR_ENABLED || this.rounds.isStopped) return;
      if (!(await this.deliveries.existsBy({}))) return;
      if (!(await this.state.takeLease(this.holder, LEASE_SECONDS))) return;
      const entries = await this.deliveries.next(this.batchSize);
      if (entries.length === 0) return this.deliveries.removeOrphans();
      const id = settings.LOG_AGGREGATOR_TOWER_UUID;
      const records = firstBatch(entries.map((entry) => recordOf(entry, id)));
      try {
        await this.target.send(settings, records);
      } catch (error) {
        if (!(error instanceof RecordsRefusedError) || records.length === 1) throw error;
        // The request can be too large for the receiver: entries before a refused entry do not wait for it.
        this.batchSize = Math.ceil(records.length / 2);
        continue;
      }
      this.batchSize = BATCH_SIZE;
      failPoint('activity-sent');
      await this.deliveries.removeSent(entries.slice(0, records.length).map((entry) => entry.id));
    }
  }
}

function recordOf(entry: SentEntry, installation: string): LogRecord {
  const { timestamp, ...fields } = entry;
  const message = `${entry.operation} ${entry.object1} ${entry.object1_name}`;
  return logRecord({
    source: 'activity_stream',
    severity: 'INFO',
    time: timestamp,
    message,
    fields: { ...fields, ...(installation === '' ? {} : { tower_uuid: installation }) },
  });
}
