import { hostname } from 'node:os';
import type { LogSeverity, LogSource } from '../config/logging-settings.js';

/** Record for a log aggregator, as JSON text. */
export interface LogRecord {
  source: LogSource;
  severity: LogSeverity;
  /** ISO 8601, UTC. */
  time: string;
  text: string;
}

/** Maximum size of a record in bytes: it must fit into a datagram with the header of syslog. */
export const MAX_RECORD_BYTES = 60_000;
/** Maximum number of characters of a text that stands for a record that is too large. */
const MAX_EXCERPT = 8000;
/** Maximum number of records in a batch. */
export const BATCH_SIZE = 500;
/** Maximum size of a batch in characters, because receivers refuse large requests. */
const BATCH_LENGTH = 1024 * 1024;

/** Name of the host that sends the records. */
export const HOST = hostname();

/** Returns the name of a source in records, as dashboards for the reference product expect it. */
export const loggerName = (source: LogSource): string =>
  source === 'awx' ? 'awx' : `awx.analytics.${source}`;

interface RecordParts {
  source: LogSource;
  severity: LogSeverity;
  time: string;
  message: string;
  fields: object;
}

/** Creates a record. A record that is too large becomes an excerpt with the member `truncated`. */
export function logRecord({ source, severity, time, message, fields }: RecordParts): LogRecord {
  const base = {
    '@timestamp': time,
    level: severity,
    logger_name: loggerName(source),
    host: HOST,
    message,
  };
  const full = JSON.stringify({ ...fields, ...base });
  if (Buffer.byteLength(full) <= MAX_RECORD_BYTES) return { source, severity, time, text: full };
  const excerpt = JSON.stringify(fields).slice(0, MAX_EXCERPT);
  const short = { ...base, message: message.slice(0, MAX_EXCERPT), truncated: true, excerpt };
  return { source, severity, time, text: JSON.stringify(short) };
}

/**
 * Returns the first records that fit into one batch; at least one.
 *
 * @param max maximum number of records
 */
export function firstBatch(
  records: readonly LogRecord[],
  max: number = BATCH_SIZE,
): readonly LogRecord[] {
  const most = records.slice(0, max);
  let length = 0;
  const end = most.findIndex(({ text }) => (length += text.length) > BATCH_LENGTH);
  return end < 0 ? most : most.slice(0, Math.max(end, 1));
}
