import { MAX_VALUES } from '../../common/fields/json-bounds.js';
import { type EventReader, MAX_MISSING, parseRunnerEvent } from './event-reader.js';
import type { RunnerEvent } from './events.js';
import { namesBelow, readBelow } from './untrusted-files.js';
import type { RunStatus } from './run-options.js';
import { ARTIFACTS, RUN_IDENT, type Workspace } from './workspace.js';

/**
 * Maximum total size of missed events, in bytes; events that were stored but not printed are rare.
 */
const MAX_MISSED_BYTES = 4 * 1024 * 1024;
const MAX_STATUS_BYTES = 1024;
const EVENTS = [ARTIFACTS, RUN_IDENT, 'job_events'] as const;
/** The names of `<uuid>-partial.json` files in the same folder can begin with digits, too. */
const EVENT_FILE = /^(\d+)-.+(?<!-partial)\.json$/;

/**
 * Returns the status that `ansible-runner` recorded for the playbook. The exit code alone is not
 * reliable: when the playbook's process is killed, the runner records `failed` and exits with 0. A
 * missing record means that the runner itself failed.
 */
export async function readRunnerStatus(
  workspace: Workspace,
  rc: number | null,
  signal: NodeJS.Signals | null,
): Promise<RunStatus> {
  const path = [ARTIFACTS, RUN_IDENT, 'status'] as const;
  const status = (await readBelow(workspace, path, MAX_STATUS_BYTES))?.trim();
  if (signal !== null) return 'error';
  if (status === 'successful') return rc === 0 ? 'successful' : 'error';
  if (status === 'failed' || status === 'timeout') return status;
  // Another program sent a SIGTERM. No user requested this, so the run is not canceled.
  return 'error';
}

/** Yields events that the runner stored but did not print, in the order of their counters. */
export async function* readMissedEvents(
  workspace: Workspace,
  reader: Pick<EventReader, 'missing' | 'lastCounter'>,
): AsyncGenerator<RunnerEvent> {
  const names = await namesBelow(workspace, EVENTS, MAX_MISSING);
  const missed = names
    .map((name) => ({ name, counter: Number(EVENT_FILE.exec(name)?.[1]) }))
    .filter(({ counter }) => {
      const isNext = counter > reader.lastCounter && counter <= reader.lastCounter + MAX_MISSING;
      return isNext || reader.missing.has(counter);
    })
    .sort((left, right) => left.counter - right.counter);
  let bytesLeft = MAX_MISSED_BYTES;
  for (const { name, counter } of missed) {
    const text = await readBelow(workspace, [...EVENTS, name], bytesLeft);
    if (text === null) continue;
    bytesLeft -= Buffer.byteLength(text);
    const event = parseRunnerEvent(text, MAX_VALUES);
    // The run can have written arbitrary content into the file.
    if (event?.counter === counter) yield event;
  }
}
