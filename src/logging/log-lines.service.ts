import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Repeated } from '../common/repeated-work.js';
import { LOG_SEVERITIES, type LogSeverity, type LogSource } from '../config/logging-settings.js';
import type { LogTargetSettings } from './log-formats.js';
import { LogForwardingRepository } from './log-forwarding.repository.js';
import type { JsonLogger, LogLine } from './json-logger.js';
import { BATCH_SIZE, firstBatch, logRecord, type LogRecord } from './log-record.js';
import { LogTarget, RecordsRefusedError } from './log-target.service.js';

const FLUSH_MS = 2000;
const MAX_DELAY_MS = 15_000;
const MAX_BYTES = 32 * 1024 * 1024;

const SEVERITIES: Readonly<Record<LogLine['level'], LogSeverity>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
};

/** Context of the log lines of websockets and live streams. */
const LIVE_CONTEXT = 'Live';

/**
 * Sends log lines, events of jobs and facts of hosts of this process to the log aggregator. The records
 * wait in a bounded buffer. Records that do not fit are dropped and counted (docs/logging.md).
 */
@Injectable()
export class LogLines implements OnModuleDestroy {
  private readonly logger = new Logger('Logging');
  private buffer: LogRecord[] = [];
  private bytes = 0;
  private dropped = 0;
  /** Maximum number of records of the next batch. */
  private batchSize = BATCH_SIZE;
  private readonly flushes = new Repeated(() => this.flush(), {
    everyMs: FLUSH_MS,
    maxMs: MAX_DELAY_MS,
    logger: this.logger,
    failure: 'log lines not sent',
  });
  /** Settings of the last batch; null before the first. */
  private current: LogTargetSettings | null = null;

  constructor(
    private readonly target: LogTarget,
    private readonly state: LogForwardingRepository,
  ) {}

  /** Starts sending; `logger` passes its lines to this service. */
  start(logger: JsonLogger): void {
    logger.listener = (line) => this.addLine(line);
    this.flushes.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.flushes.stop();
    if (this.buffer.length > 0) await this.flush().catch(() => undefined);
  }

  /** Returns true if the log aggregator receives records of a source. */
  wants(source: LogSource): boolean {
    const { LOG_AGGREGATOR_ENABLED: isEnabled, LOG_AGGREGATOR_LOGGERS: sources } =
      this.current ?? {};
    return isEnabled === true && sources?.includes(source) === true;
  }

  /** Format of the log lines of refused requests. If the format is empty, no line is logged. */
  get refusalFormat(): string {
    return this.current?.API_400_ERROR_LOG_FORMAT ?? '';
  }

  /** True if each fact of a host is a record of its own. */
  get individualFacts(): boolean {
    return this.current?.LOG_AGGREGATOR_INDIVIDUAL_FACTS === true;
  }

  /** Adds a record of the severity INFO, if the log aggregator receives its source. */
  add(source: LogSource, message: string, fields: object, time = new Date().toISOString()): void {
    if (this.wants(source)) this.push({ source, severity: 'INFO', time, message, fields });
  }

  private addLine({ time, level, message, ...fields }: LogLine): void {
    const source = fields.context === LIVE_CONTEXT ? 'broadcast_websocket' : 'awx';
    const severity = SEVERITIES[level];
    // Before the first flush, the settings are not known, so all lines are kept.
    if (this.current !== null && !(this.wants(source) && this.isSevere(severity))) return;
    this.push({ source, severity, time, message: String(message), fields });
  }

  private isSevere(severity: LogSeverity): boolean {
    const min = LOG_SEVERITIES.findIndex((name) => name === this.current?.LOG_AGGREGATOR_LEVEL);
    return LOG_SEVERITIES.indexOf(severity) >= min;
  }

  private push(parts: Parameters<typeof logRecord>[0]): void {
    const id = this.current?.LOG_AGGREGATOR_TOWER_UUID ?? '';
    const fields = id === '' ? parts.fields : { ...parts.fields, tower_uuid: id };
    const record = logRecord({ ...parts, fields });
    const max = this.current?.LOG_AGGREGATOR_ACTION_QUEUE_SIZE ?? Infinity;
    if (this.buffer.length >= max || this.bytes + record.text.length > MAX_BYTES) {
      this.dropped++;
      return;
    }
    this.buffer.push(record);
    this.bytes += record.text.length;
  }

  /** Sends the buffered records. */
  private async flush(): Promise<void> {
    do {
      // For each batch: records can arrive faster than the receiver takes them, so that the buffer is never empty.
      const settings = await this.applySettings();
      if (this.buffer.length > 0) await this.sendBatch(settings);
    } while (this.buffer.length > 0);
  }

  /** Reads the settings, and removes the records that they exclude. */
  private async applySettings(): Promise<LogTargetSettings> {
    const settings = await this.target.settings();
    this.current = settings;
    this.buffer = this.buffer.filter(
      ({ source, severity }) => this.wants(source) && (!isLine(source) || this.isSevere(severity)),
    );
    this.bytes = this.buffer.reduce((sum, { text }) => sum + text.length, 0);
    await this.countDropped();
    return settings;
  }

  /**
   * Sends the first records. A record that the receiver refuses must not block the others: a refused batch
   * is halved, and a single refused record is dropped. The delay after the error limits how many records
   * are dropped if the receiver refuses all of them.
   */
  private async sendBatch(settings: LogTargetSettings): Promise<void> {
    const batch = firstBatch(this.buffer, this.batchSize);
    try {
      await this.target.send(settings, batch);
    } catch (error) {
      if (!(error instanceof RecordsRefusedError)) throw error;
      this.batchSize = Math.ceil(batch.length / 2);
      if (batch.length > 1) return;
      this.remove(batch);
      this.dropped++;
      throw error;
    }
    this.remove(batch);
    this.batchSize = BATCH_SIZE;
  }

  /** Removes the first records of the buffer. */
  private remove(batch: readonly LogRecord[]): void {
    this.buffer.splice(0, batch.length);
    this.bytes -= batch.reduce((sum, { text }) => sum + text.length, 0);
  }

  private async countDropped(): Promise<void> {
    const count = this.dropped;
    if (count === 0) return;
    await this.state.addDropped(count);
    this.dropped -= count;
    const droppedSince = this.dropped;
    this.logger.warn({ message: 'log lines dropped', count });
    // If the buffer is full, this warning is dropped too. Counting it would repeat the warning forever.
    this.dropped = droppedSince;
  }
}

const isLine = (source: LogSource): boolean => source === 'awx' || source === 'broadcast_websocket';
