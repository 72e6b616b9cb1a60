import { type EventReader, MOST_MISSING, parseEvent } from './event-reader.js';
import type { RunnerEvent } from './events.js';
import { namesBelow, readBelow } from './left-files.js';
import type { RunStatus } from './run-options.js';
import { ARTIFACTS, RUN_IDENT, type Workspace } from './workspace.js';

/** A file larger than this held an event whose line was cut or refused already. */
const MAX_EVENT_FILE_BYTES = 8 * 1024 * 1024;
/** Events that were stored and not printed are few. */
const MAX_MISSED_BYTES = 64 * 1024 * 1024;
const MAX_STATUS_BYTES = 1024;
const EVENTS = [ARTIFACTS, RUN_IDENT, 'job_events'] as const;
/** `<uuid>-partial.json` beside them may begin with digits, too. */
const EVENT_FILE = /^(\d+)-.+(?<!-partial)\.json$/;

/**
 * The verdict of `ansible-runner` about the playbook. The exit code alone would lie: when the playbook's process
 * is killed, the runner writes `failed` and still exits with 0. Without a verdict the runner itself broke.
 */
export async function readRunnerStatus(
  workspace: Workspace,
  rc: number | null,
  signal: NodeJS.Signals | null,
): Promise<RunStatus> {
  const path = [ARTIFACTS, RUN_IDENT, 'status'] as const;
  const verdict = (await readBelow(workspace, path, MAX_STATUS_BYTES))?.trim();
  if (signal !== null) return 'error';
  if (verdict === 'successful') return rc === 0 ? 'successful' : 'error';
  if (verdict === 'failed' || verdict === 'timeout') return verdict;
  // SIGTERM from outside this program: nobody asked for it here, so it is no cancel.
  return 'error';
}

/** Events the runner stored and did not print, in the order of their counters. */
export async function readMissedEvents(
  workspace: Workspace,
  reader: Pick<EventReader, 'missing' | 'lastCounter'>,
): Promise<RunnerEvent[]> {
  const names = await namesBelow(workspace, EVENTS, MOST_MISSING);
  const missed = names
    .map((name) => ({ name, counter: Number(EVENT_FILE.exec(name)?.[1]) }))
    .filter(({ counter }) => counter > reader.lastCounter || reader.missing.has(counter))
    .sort((left, right) => left.counter - right.counter);
  const events: RunnerEvent[] = [];
  let bytes = 0;
  for (const { name, counter } of missed) {
    const text = await readBelow(workspace, [...EVENTS, name], MAX_EVENT_FILE_BYTES);
    bytes += text?.length ?? 0;
    if (bytes > MAX_MISSED_BYTES) break;
    const event = text === null ? null : parseEvent(text);
    // The run may have written what it likes into the file.
    if (event?.counter === counter) events.push(event);
  }
  return events;
}
