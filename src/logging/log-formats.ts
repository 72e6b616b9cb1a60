import { basicAuthorization } from '../outbound/outbound-client.js';
import type { LogSeverity, LogSource } from '../config/logging-settings.js';
import type { SettingValues } from '../config/settings.js';
import { HOST, loggerName, type LogRecord } from './log-record.js';
import { append } from '../common/records.js';

/** Settings that decide where records are sent, and how. */
export const LOG_TARGET_SETTINGS = [
  'API_400_ERROR_LOG_FORMAT',
  'LOG_AGGREGATOR_ENABLED',
  'LOG_AGGREGATOR_TYPE',
  'LOG_AGGREGATOR_HOST',
  'LOG_AGGREGATOR_PORT',
  'LOG_AGGREGATOR_PROTOCOL',
  'LOG_AGGREGATOR_USERNAME',
  'LOG_AGGREGATOR_PASSWORD',
  'LOG_AGGREGATOR_LOGGERS',
  'LOG_AGGREGATOR_LEVEL',
  'LOG_AGGREGATOR_INDIVIDUAL_FACTS',
  'LOG_AGGREGATOR_TOWER_UUID',
  'LOG_AGGREGATOR_TCP_TIMEOUT',
  'LOG_AGGREGATOR_VERIFY_CERT',
  'LOG_AGGREGATOR_ACTION_QUEUE_SIZE',
] as const;
export type LogTargetSettings = Pick<SettingValues, (typeof LOG_TARGET_SETTINGS)[number]>;

/** A request that carries records to a log aggregator. */
interface LogRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

interface HttpFormat {
  /** Path if the host of the settings has none. */
  path: string;
  contentType: string;
  body(records: readonly LogRecord[]): string;
}

const epochSeconds = (time: string): number => Date.parse(time) / 1000;

/** Returns an instant in nanoseconds. The API's instants have microseconds. */
function nanoseconds(time: string): string {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  const seconds = Math.floor(Date.parse(time) / 1000);
  return `${seconds}${fraction.padEnd(9, '0').slice(0, 9)}`;
}

function lokiBody(records: readonly LogRecord[]): string {
  const streams = new Map<LogSource, LogRecord[]>();
  for (const record of records) append(streams, record.source, record);
  return JSON.stringify({
    streams: [...streams].map(([source, members]) => ({
      stream: { service_name: 'automation-controller', logger: loggerName(source), host: HOST },
      values: members.map(({ time, text }) => [nanoseconds(time), text]),
    })),
  });
}

const jsonArray = (records: readonly LogRecord[]): string =>
  `[${records.map(({ text }) => text).join(',')}]`;
const jsonLines = (records: readonly LogRecord[]): string =>
  records.map(({ text }) => text).join('\n');

const JSON_TYPE = 'application/json';
const ARRAY: HttpFormat = { path: '/', contentType: JSON_TYPE, body: jsonArray };
const LINES: HttpFormat = { path: '/', contentType: 'text/plain; charset=utf-8', body: jsonLines };

const HTTP_FORMATS: Readonly<Record<string, HttpFormat>> = {
  splunk: {
    path: '/services/collector/event',
    contentType: JSON_TYPE,
    body: (records) =>
      records
        .map(
          ({ source, time, text }) =>
            `{"time":${epochSeconds(time)},"host":${JSON.stringify(HOST)},"source":${JSON.stringify(loggerName(source))},"sourcetype":"_json","event":${text}}`,
        )
        .join('\n'),
  },
  loki: { path: '/loki/api/v1/push', contentType: JSON_TYPE, body: lokiBody },
  loggly: LINES,
  sumologic: LINES,
};

/** Returns the URL of the log aggregator. */
function urlOf(settings: LogTargetSettings, path: string): string {
  const host = settings.LOG_AGGREGATOR_HOST ?? '';
  const url = new URL(/^https?:\/\//i.test(host) ? host : `https://${host.replace(/^\/\//, '')}`);
  // `URL` drops the default port of the scheme, so the text is searched: its port takes precedence.
  const hasPort = /^(?:https?:)?(?:\/\/)?[^/]*:\d+(?:\/|$)/i.test(host);
  if (!hasPort && settings.LOG_AGGREGATOR_PORT !== null) {
    url.port = String(settings.LOG_AGGREGATOR_PORT);
  }
  if (url.pathname === '/') url.pathname = path;
  return url.href;
}

/**
 * Returns the request that carries records.
 *
 * @throws TypeError if the host is not a host or URL
 */
export function logRequest(settings: LogTargetSettings, records: readonly LogRecord[]): LogRequest {
  const { LOG_AGGREGATOR_TYPE: type, LOG_AGGREGATOR_USERNAME: username } = settings;
  const password = settings.LOG_AGGREGATOR_PASSWORD;
  const format = HTTP_FORMATS[type ?? ''] ?? ARRAY;
  const headers: Record<string, string> = { 'content-type': format.contentType };
  if (type === 'splunk') headers.authorization = `Splunk ${password}`;
  else if (username !== '') headers.authorization = basicAuthorization(username, password);
  return { url: urlOf(settings, format.path), headers, body: format.body(records) };
}

const SYSLOG_SEVERITIES: Readonly<Record<LogSeverity, number>> = {
  CRITICAL: 2,
  ERROR: 3,
  WARNING: 4,
  INFO: 6,
  DEBUG: 7,
};
const FACILITY_LOCAL0 = 16;

/** Returns a record as a message of syslog (RFC 5424), without framing. */
function syslogMessage({ source, severity, time, text }: LogRecord): string {
  const priority = FACILITY_LOCAL0 * 8 + SYSLOG_SEVERITIES[severity];
  const host = HOST.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-';
  return `<${priority}>1 ${time} ${host} automation-controller ${process.pid} ${source} - ${text}`;
}

/** Returns a record as it is written to a connection: syslog with octet counting (RFC 6587), or a line. */
export function streamFrame(type: string | null, record: LogRecord): string {
  if (type !== 'syslog') return `${record.text}\n`;
  const message = syslogMessage(record);
  return `${Buffer.byteLength(message)} ${message}`;
}

/** Returns a record as a datagram. */
export const datagram = (type: string | null, record: LogRecord): string =>
  type === 'syslog' ? syslogMessage(record) : record.text;
