/**
 * Results of runs in the furnished installation: their events with the output, and their summaries by host.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from '../support/boot.js';

const PLAY = 'Put the shop online';
const WIDTH = 46;

/** Result of a task on a host. */
type Outcome = 'ok' | 'changed' | 'failed' | 'unreachable';

/** Event of each result, and the color of its line in Ansible's output. */
const RECORDS: Record<Outcome, { event: string; colour: string }> = {
  ok: { event: 'runner_on_ok', colour: '0;32' },
  changed: { event: 'runner_on_ok', colour: '0;33' },
  failed: { event: 'runner_on_failed', colour: '1;31' },
  unreachable: { event: 'runner_on_unreachable', colour: '1;31' },
};

/** One task of a run, with its result by host. `message` is the text of a failure. */
export interface FurnishedTask {
  task: string;
  hosts: readonly (readonly [host: string, outcome: Outcome])[];
  message?: string;
}

/** Numbers of tasks on a host: ok, changed, failed, unreachable, skipped. */
export type HostNumbers = readonly [
  host: string,
  ok: number,
  changed: number,
  failures: number,
  dark: number,
  skipped: number,
];

interface Event {
  event: string;
  host: string;
  task: string;
  outcome: Outcome | null;
  text: string;
  data: object;
}

/** Stores the output of a run so far, and its recap if it has ended. */
export async function storeEvents(
  { database }: TestApp,
  job: Row,
  tasks: readonly FurnishedTask[],
  isOver: boolean,
): Promise<void> {
  const start = { host: '', outcome: null, data: {} };
  const events: Event[] = [
    { ...start, event: 'playbook_on_play_start', task: '', text: starred(`PLAY [${PLAY}] `) },
    ...tasks.flatMap((one) => [
      {
        ...start,
        event: 'playbook_on_task_start',
        task: one.task,
        text: `\n${starred(`TASK [${one.task}] `)}`,
      },
      ...one.hosts.map((of) => resultOf(one, of)),
    ]),
    ...(isOver
      ? [{ ...start, event: 'playbook_on_stats', task: '', text: `\n${starred('PLAY RECAP ')}` }]
      : []),
  ];
  let line = 0;
  for (const [index, { event, host, task, outcome, text, data }] of events.entries()) {
    const end = line + text.split('\n').length;
    await database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, host_name, play, task, parent_uuid, failed,
        changed, stdout, start_line, end_line, event_data)
      VALUES (${job.id}, ${index + 1}, ${event}, ${host}, ${PLAY}, ${task}, ${task},
        ${outcome === 'failed' || outcome === 'unreachable'}, ${outcome === 'changed'}, ${text},
        ${line}, ${end}, ${JSON.stringify(data)})`);
    line = end;
  }
}

/** Stores the summaries by host of a run that ended. */
export async function storeSummaries(
  { database }: TestApp,
  job: Row,
  hosts: readonly HostNumbers[],
): Promise<void> {
  for (const [host, ok, changed, failures, dark, skipped] of hosts) {
    await database.execute(sql`
      INSERT INTO job_host_summaries (job_id, host_name, ok, changed, failures, dark, skipped, failed)
      VALUES (${job.id}, ${host}, ${ok}, ${changed}, ${failures}, ${dark}, ${skipped},
        ${failures + dark > 0})`);
  }
}

function resultOf(
  { task, message = '' }: FurnishedTask,
  [host, outcome]: FurnishedTask['hosts'][number],
): Event {
  const { event, colour } = RECORDS[outcome];
  const isBad = outcome === 'failed' || outcome === 'unreachable';
  const data = isBad ? { res: { msg: message } } : {};
  const result = JSON.stringify({ changed: false, msg: message });
  const text = isBad
    ? `fatal: [${host}]: ${outcome.toUpperCase()}! => ${result}`
    : `${outcome}: [${host}]`;
  return { event, host, task, outcome, text: `\u001B[${colour}m${text}\u001B[0m`, data };
}

/** Returns a heading as Ansible prints it. */
const starred = (text: string): string => text.padEnd(WIDTH, '*');
