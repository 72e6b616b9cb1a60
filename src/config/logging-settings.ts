import { logging } from './setting.js';

/** Sources of the records that are sent to a log aggregator, by their names in the settings. */
const LOG_SOURCES = [
  'awx',
  'activity_stream',
  'job_events',
  'system_tracking',
  'broadcast_websocket',
] as const;
export type LogSource = (typeof LOG_SOURCES)[number];

/** Severities of a log aggregator, the lowest first. */
export const LOG_SEVERITIES = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;
export type LogSeverity = (typeof LOG_SEVERITIES)[number];

/** Settings of the log aggregator (docs/logging.md). */
export const LOG_AGGREGATOR_SETTINGS = {
  LOG_AGGREGATOR_ENABLED: logging.boolean({
    runtime: true,
    default: false,
    help: 'Send records to a log aggregator.',
  }),
  LOG_AGGREGATOR_TYPE: logging.optionalString({
    runtime: true,
    choices: ['logstash', 'splunk', 'loggly', 'sumologic', 'loki', 'syslog', 'other'],
    help: 'Product of the log aggregator, which decides the format of the records.',
  }),
  LOG_AGGREGATOR_HOST: logging.optionalString({
    runtime: true,
    max: 1024,
    help: 'Host name, address or, for the protocol https, URL of the log aggregator. URLs that start with http:// do not use TLS.',
  }),
  LOG_AGGREGATOR_PORT: logging.optionalInteger({
    runtime: true,
    min: 1,
    max: 65_535,
    help: 'Port of the log aggregator. Required for tcp, tls and udp; a port in the URL of the host takes precedence.',
  }),
  LOG_AGGREGATOR_PROTOCOL: logging.string({
    runtime: true,
    default: 'https',
    choices: ['https', 'tcp', 'tls', 'udp'],
    help: 'Protocol to the log aggregator. Records that are sent by udp can be lost.',
  }),
  LOG_AGGREGATOR_USERNAME: logging.string({
    runtime: true,
    default: '',
    max: 1024,
    help: 'User name for HTTP Basic authentication.',
  }),
  LOG_AGGREGATOR_PASSWORD: logging.secret({
    runtime: true,
    default: '',
    help: 'Password for HTTP Basic authentication, or the token of the HTTP Event Collector of Splunk.',
  }),
  LOG_AGGREGATOR_LOGGERS: logging.list({
    runtime: true,
    default: LOG_SOURCES,
    choices: LOG_SOURCES,
    help: 'Records to send: awx (log lines of this service), activity_stream, job_events, system_tracking (facts of hosts) and broadcast_websocket (log lines of live updates).',
  }),
  LOG_AGGREGATOR_INDIVIDUAL_FACTS: logging.boolean({
    runtime: true,
    default: false,
    help: 'Send one record for each fact of a host, in place of one record for each host.',
  }),
  LOG_AGGREGATOR_TOWER_UUID: logging.string({
    runtime: true,
    default: '',
    max: 1024,
    help: 'Id of this installation in the records.',
  }),
  LOG_AGGREGATOR_TCP_TIMEOUT: logging.seconds({
    runtime: true,
    default: 5,
    min: 1,
    max: 15,
    help: 'Timeout in seconds of connections to the log aggregator, for all protocols except udp.',
  }),
  LOG_AGGREGATOR_VERIFY_CERT: logging.boolean({
    runtime: true,
    default: true,
    help: 'Verify the TLS certificate of the log aggregator.',
  }),
  LOG_AGGREGATOR_LEVEL: logging.string({
    runtime: true,
    default: 'INFO',
    choices: LOG_SEVERITIES,
    help: 'Minimum severity of the log lines that are sent. Lines below LOG_LEVEL are never sent.',
  }),
  LOG_AGGREGATOR_ACTION_QUEUE_SIZE: logging.integer({
    runtime: true,
    default: 131_072,
    min: 1,
    help: 'Records that a process keeps in memory while the log aggregator is unavailable, in at most 32 MB. Further records are dropped and counted; activity entries are kept in the database and never dropped.',
  }),
  API_400_ERROR_LOG_FORMAT: logging.string({
    runtime: true,
    default: '',
    max: 1024,
    help: 'Log line for each response with a status from 400 to 499, at the severity WARNING; empty: none. {status_code}, {user_name}, {url_path} and {remote_addr} are replaced.',
  }),
} as const;

/** Returns the reasons why the log aggregator cannot be enabled with these values. */
export function logAggregatorFaults(values: Readonly<Record<string, unknown>>): string[] {
  if (values.LOG_AGGREGATOR_ENABLED !== true) return [];
  const missing = (name: string): boolean => (values[name] ?? '') === '';
  const faults = [];
  if (missing('LOG_AGGREGATOR_HOST')) {
    faults.push('Cannot enable log aggregator without providing host.');
  }
  if (missing('LOG_AGGREGATOR_TYPE')) {
    faults.push('Cannot enable log aggregator without providing type.');
  }
  return faults;
}
