import { isRecord, memberOf, tableOf } from '../../common/records.js';
import { HIDDEN_ARTIFACTS, HIDES_ARTIFACTS } from '../../runs/artifacts.js';
import { artifactsTooLarge } from '../../runs/run-explanations.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import { storableText, truncateText } from '../../common/fields/text.js';
import { mapTextsIn } from './clean-text.js';
import { eventDisplay, eventKind } from './event-kinds.js';

/**
 * One event as `ansible-runner run --json` prints it; lists only the properties that the reader
 * checks.
 */
export interface RunnerEvent {
  readonly uuid: string;
  readonly counter: number;
  readonly event: string;
  readonly [key: string]: unknown;
}

/**
 * Maximum length of the name of a playbook, play, task, role or host
 * (docs/contract/runs.md#events).
 */
const MAX_NAME_LENGTH = 1024;
/** Maximum length of the ids of events. Those of Ansible have 36 characters. */
const MAX_ID_LENGTH = 64;
/** Maximum number in an event; leaves space in the column for the lines of the run's preparation. */
const MAX_NUMBER = 2_000_000_000;
/** Latest time of an event, in ms: the start of 2200. */
const MAX_TIME = Date.UTC(2200);
/** Maximum size of a stored module result, in bytes of JSON. */
export const MAX_RESULT_BYTES = 700_000;
/**
 * Maximum number of values in the data of an event, except the statistics; objects and lists count as
 * several. In memory a value can be 20 times as large as its JSON, and lists contain 200 events.
 */
const MAX_DATA_VALUES = 100_000;
const CONTAINER_VALUES = 5;
/** Maximum size of the artifacts of a run, in bytes of JSON; lists of jobs contain them, too. */
export const MAX_ARTIFACT_BYTES = 1_000_000;
/**
 * Maximum size of all data of an event, in bytes of JSON; data of Ansible is far smaller. Above it, only names,
 * flags, the result and the artifacts are stored.
 */
const MAX_DATA_BYTES = 2_000_000;
const NAMED_KEYS = ['playbook', 'play', 'task', 'role', 'host'] as const;
/** Other keys of an event that determine how the event is stored. */
const FLAG_KEYS = ['task_action', 'resolved_action', 'ignore_errors'] as const;
/** Keys of a result that are stored if the result is too large. */
const RESULT_ESSENTIALS = [
  'changed',
  'failed',
  'skipped',
  'unreachable',
  'rc',
  'censored',
] as const;

/** Returns true if a parsed line is an event and not output that happens to be JSON. */
export function isRunnerEvent(value: unknown): value is RunnerEvent {
  return (
    isRecord(value) &&
    typeof value['uuid'] === 'string' &&
    typeof value['event'] === 'string' &&
    Number.isSafeInteger(value['counter'])
  );
}

/** Returns true if an event only contains printed lines. */
export const isPlainOutput = ({ event }: Pick<EventRow, 'event'>): boolean => event === 'verbose';

/** Maps an event to its row (docs/contract/runs.md#events). Never throws. */
export function toEventRow(event: RunnerEvent): EventRow {
  const eventData = storableData(event);
  const names = tableOf(NAMED_KEYS, (key) => nameOf(eventData[key]));
  const { host, ...shownNames } = names;
  return {
    uuid: idOf(event.uuid),
    parentUuid: idOf(event['parent_uuid']),
    counter: event.counter,
    event: nameOf(event.event),
    eventDisplay: eventDisplay({ ...shownNames, event: event.event, eventData }),
    eventLevel: eventKind(event.event).level,
    failed: isFailed(event.event, eventData),
    changed: isChanged(event.event, event['event_data']),
    hostName: host,
    ...shownNames,
    stdout: storableText(numberOrText(event['stdout'])),
    startLine: storableCount(event['start_line']),
    endLine: storableCount(event['end_line']),
    verbosity: storableCount(event['verbosity']),
    eventData,
    created: toInstant(event['created']),
  };
}

function storableData({ event, event_data: raw }: RunnerEvent): Record<string, unknown> {
  const clean = mapTextsIn(isRecord(raw) ? raw : {}, storableText);
  // Measured after the cleanup, which replaces values that are nested too deeply for JSON by null.
  if (isTooLarge(clean, MAX_RESULT_BYTES)) limitData(clean, event);
  for (const key of NAMED_KEYS) {
    const name = clean[key];
    if (typeof name === 'string') clean[key] = truncateText(name, MAX_NAME_LENGTH);
  }
  return clean;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns true for a value with too many bytes of JSON or too many values. */
const isTooLarge = (value: unknown, maxBytes: number): boolean =>
  sizeOf(value) > maxBytes || valuesIn(value) > MAX_DATA_VALUES;

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, item) => sum + valuesIn(item), CONTAINER_VALUES)
    : 1;

/** Limits the members of the data, except the counts of the statistics, which name all hosts. */
function limitData(data: Record<string, unknown>, event: string): void {
  if ('res' in data) data['res'] = limitResult(data['res']);
  if ('artifact_data' in data) data['artifact_data'] = limitArtifacts(data['artifact_data']);
  if (event === 'playbook_on_stats' || !isTooLarge(data, MAX_DATA_BYTES)) return;
  const names: readonly string[] = [...NAMED_KEYS, ...FLAG_KEYS];
  for (const [key, value] of Object.entries(data)) {
    const isKept = key === 'res' || key === 'artifact_data';
    if (!isKept && !(names.includes(key) && isScalar(value))) delete data[key];
  }
}

const isScalar = (value: unknown): boolean => value !== undefined && typeof value !== 'object';

function limitResult(res: unknown): unknown {
  if (!isTooLarge(res, MAX_RESULT_BYTES)) return res;
  const bytes = sizeOf(res);
  const essentials = RESULT_ESSENTIALS.map((key) => [key, memberOf(res, key)] as const);
  return {
    ...Object.fromEntries(essentials.filter(([, value]) => isScalar(value))),
    msg:
      bytes > MAX_RESULT_BYTES
        ? `The result is not stored: it has ${bytes} bytes, at most ${MAX_RESULT_BYTES} are allowed.`
        : `The result is not stored: it has too many values; an object or list counts as ${CONTAINER_VALUES} of ${MAX_DATA_VALUES}.`,
  };
}

/** Returns a text in place of artifacts that are too large. */
function limitArtifacts(data: unknown): unknown {
  if (sizeOf(data) <= MAX_ARTIFACT_BYTES) return data;
  const isHidden = isRecord(data) && Boolean(data[HIDES_ARTIFACTS]);
  return isHidden ? HIDDEN_ARTIFACTS : artifactsTooLarge(MAX_ARTIFACT_BYTES);
}

function isFailed(event: string, eventData: Record<string, unknown>): boolean {
  if (event === 'playbook_on_stats') {
    return sumOf(eventData['failures']) + sumOf(eventData['dark']) > 0;
  }
  return eventKind(event).failed && !eventData['ignore_errors'];
}

function isChanged(event: string, eventData: unknown): boolean {
  if (!isRecord(eventData)) return false;
  if (event === 'playbook_on_stats') return sumOf(eventData['changed']) > 0;
  return isRecord(eventData['res']) && Boolean(eventData['res']['changed']);
}

function sumOf(counts: unknown): number {
  if (!isRecord(counts)) return 0;
  return Object.values(counts).reduce<number>((sum, count) => sum + storableCount(count), 0);
}

function nameOf(value: unknown): string {
  return truncateText(storableText(numberOrText(value)).trim(), MAX_NAME_LENGTH);
}

const idOf = (value: unknown): string => truncateText(nameOf(value), MAX_ID_LENGTH);

function numberOrText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

/** Returns a count of an event; 0 for anything that the database cannot store. */
export function storableCount(value: unknown): number {
  return typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    0 < value &&
    value <= MAX_NUMBER
    ? value
    : 0;
}

/**
 * Converts a time to ISO 8601. The callback writes UTC times without a time zone. JavaScript accepts more than
 * PostgreSQL, such as February 30, so the time is written again.
 */
function toInstant(value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (!(time >= 0 && time <= MAX_TIME)) return new Date().toISOString();
  const microseconds = /\.\d{3}(\d{3})/.exec(text)?.[1] ?? '';
  return new Date(time).toISOString().replace('Z', `${microseconds}Z`);
}
