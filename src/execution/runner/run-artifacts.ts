import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { type EventReader, parseEvent } from './event-reader.js';
import type { RunnerEvent } from './events.js';
import { RUN_IDENT } from './playbook-run.js';
import type { RunStatus } from './run-process.js';
import type { Workspace } from './workspace.js';

/** A file larger than this held an event whose line was cut or refused already. */
const MAX_EVENT_FILE_BYTES = 8 * 1024 * 1024;
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
  const path = join(workspace.artifactsDir, RUN_IDENT, 'status');
  const verdict = (await readFile(path, 'utf8').catch(() => '')).trim();
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
  const dir = join(workspace.artifactsDir, RUN_IDENT, 'job_events');
  const names = await readdir(dir).catch(() => []);
  const missed = names
    .map((name) => ({ name, counter: Number(EVENT_FILE.exec(name)?.[1]) }))
    .filter(({ counter }) => counter > reader.lastCounter || reader.missing.has(counter))
    .sort((left, right) => left.counter - right.counter);
  const events: RunnerEvent[] = [];
  for (const { name } of missed) {
    const event = await readEvent(join(dir, name));
    if (event) events.push(event);
  }
  return events;
}

async function readEvent(path: string): Promise<RunnerEvent | null> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size === 0 || size > MAX_EVENT_FILE_BYTES) return null;
  const text = await readFile(path, 'utf8').catch(() => '');
  return parseEvent(text);
}
