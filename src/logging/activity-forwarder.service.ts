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
import { messageOf } from '../common/errors/message-of.js';
import { failPoint } from '../common/fail-point.js';
import { LogForwardingRepository } from './log-forwarding.repository.js';
import { logRecord, type LogRecord } from './log-record.js';
import { LogTarget } from './log-target.service.js';

const INTERVAL_MS = 1000;
/** Maximum delay after failures. */
const MAX_DELAY_MS = 15_000;
/** Longer than the longest attempt, so that another worker never sends at the same time. */
const LEASE_SECONDS = 45;
const BATCH = 500;
const BATCH_BYTES = 1024 * 1024;

/**
 * Sends activity entries to the log aggregator, at least once and in order (docs/logging.md). One worker
 * at a time holds the lease. An entry is removed from the deliveries after the receiver has it, so a
 * worker that is killed leaves nothing behind that its successor does not send.
 */
@Injectable()
export class ActivityForwarder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Logging');
  private readonly holder = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private isStopping = false;
  private failures = 0;

  constructor(
    private readonly target: LogTarget,
    private readonly deliveries: ActivityDeliveriesRepository,
    private readonly state: LogForwardingRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule(INTERVAL_MS);
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.working;
    await this.state.release(this.holder).catch(() => undefined);
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.working = this.attempt();
    }, delayMs).unref();
  }

  private async attempt(): Promise<void> {
    try {
      await this.sendWaiting();
      this.failures = 0;
    } catch (error) {
      this.failures++;
      // Repeated failures are one line: the metrics show how many entries wait.
      if (this.failures === 1) {
        this.logger.warn({ message: 'activity entries not sent', reason: messageOf(error) });
      }
    }
    const delay = Math.min(INTERVAL_MS * 2 ** this.failures, MAX_DELAY_MS);
    if (!this.isStopping) this.schedule(this.failures === 0 ? INTERVAL_MS : delay);
  }

  /** Sends what waits, if this worker holds the lease. */
  private async sendWaiting(): Promise<void> {
    for (;;) {
      const settings = await this.target.settings();
      if (!settings.LOG_AGGREGATOR_ENABLED || this.isStopping) return;
      if (!(await this.deliveries.existsBy({}))) return;
      if (!(await this.state.lease(this.holder, LEASE_SECONDS))) return;
      const entries = await this.deliveries.next(BATCH);
      if (entries.length === 0) return this.deliveries.removeOrphans();
      const id = settings.LOG_AGGREGATOR_TOWER_UUID;
      const records = firstBytes(entries.map((entry) => recordOf(entry, id)));
      await this.target.send(settings, records);
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

/** Returns the first records that fit into one batch; at least one. */
function firstBytes(records: readonly LogRecord[]): readonly LogRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ text }) => (bytes += text.length) > BATCH_BYTES);
  return end < 0 ? records : records.slice(0, Math.max(end, 1));
}
