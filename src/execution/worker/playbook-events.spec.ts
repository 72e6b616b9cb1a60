import { entryOf } from '../../common/invariants.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import type { RunnerEvent } from '../runner/events.js';
import { MASK } from '../runner/mask.js';
import { createMasker } from '../runner/masker.js';
import { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';
import { PlaybookEvents } from './playbook-events.js';

const HIDDEN = '$hidden due to Ansible no_log flag$';

let counter: number;
let stored: EventRow[];
let events: PlaybookEvents;
const store = {
  store: async (_: unknown, rows: readonly EventRow[]) => void stored.push(...rows),
} as unknown as EventStore;

beforeEach(() => {
  counter = 0;
  stored = [];
  events = new PlaybookEvents(store, new ActiveRun(1, 1), createMasker([]));
});

const event = (name: string, data: object = {}, stdout = ''): RunnerEvent => {
  counter += 1;
  return { uuid: `u-${counter}`, counter, event: name, event_data: data, stdout };
};
const setStats = (res: object): RunnerEvent =>
  event('runner_on_ok', { task_action: 'set_stats', res });
const censored = (): RunnerEvent => setStats({ censored: 'the output has been hidden' });
const recap = [
  'PLAY RECAP ****',
  'CUSTOM STATS: ****',
  '\ta: { "word": "canary-host"}',
  '',
  '\tRUN: { "token": "canary-run"}',
].join('\r\n');
const statistics = (): RunnerEvent =>
  event('playbook_on_stats', { ok: { a: 1 }, artifact_data: { token: 'canary-run' } }, recap);
const counters = (): number[] => stored.map((row) => row.counter);

it('PlaybookEvents stores output from before the playbook together with its start event', async () => {
  await events.take([event('verbose', {}, 'a warning')]);
  expect(counters()).toEqual([]);
  await events.take([event('playbook_on_start')]);
  expect(counters()).toEqual([1, 2]);
  await events.take([event('verbose')]);
  expect(counters()).toEqual([1, 2, 3]);
});

it('PlaybookEvents holds back lines that may start a secret, and masks the secret in each line', async () => {
  const masker = createMasker(['hunter2-hunter2']);
  events = new PlaybookEvents(store, new ActiveRun(1, 1), masker);
  await events.take([event('playbook_on_start'), event('verbose', {}, 'a warning of hunter2-')]);
  expect(counters()).toEqual([1]);
  await events.take([event('verbose', {}, 'hunter2 and hunter2-')]);
  expect(counters()).toEqual([1]);
  await events.take([event('verbose', {}, 'others')]);
  expect(stored.map((row) => row.stdout)).toEqual([
    '',
    `a warning of ${MASK}`,
    `${MASK} and hunter2-`,
    'others',
  ]);
  await events.take([event('verbose', {}, 'hunter2-'), event('runner_on_ok', {}, 'hunter2')]);
  expect(counters()).toEqual([1, 2, 3, 4, 5, 6]);
  await events.take([event('verbose', {}, 'hunter2-')]);
  await events.finish();
  expect(counters()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it('PlaybookEvents holds back lines that may start a hidden statistic', async () => {
  await events.take([event('playbook_on_start'), censored(), statistics()]);
  await events.take([event('verbose', {}, 'say canary-')]);
  await events.take([event('verbose', {}, 'run')]);
  await events.finish();
  expect(stored.slice(3).map((row) => row.stdout)).toEqual([`say ${MASK}`, MASK]);
});

it('PlaybookEvents does not hold back lines indefinitely', async () => {
  events = new PlaybookEvents(store, new ActiveRun(1, 1), createMasker(['hunter2-hunter2']));
  await events.take([event('playbook_on_start'), event('verbose', {}, 'hunter2-')]);
  for (let line = 0; line < 1000; line += 1) await events.take([event('verbose')]);
  expect(counters()).toHaveLength(1002);
});

it('PlaybookEvents stores the output of a playbook that did not start when the run ends', async () => {
  await events.take([event('verbose', {}, 'ERROR! the role was not found')]);
  expect(events.isWithoutHosts()).toBe(false);
  await events.finish();
  expect(counters()).toEqual([1]);
  expect(events.fields()).toMatchObject({ emitted_events: 1 });
});

it('PlaybookEvents does not hold back output from before the playbook indefinitely', async () => {
  for (let line = 0; line < 60; line += 1) await events.take([event('verbose', {}, 'line')]);
  expect(counters()).toHaveLength(60);
});

it('PlaybookEvents detects that a limit matched no host, and stores no event for it', async () => {
  const refusal =
    'ERROR! Specified inventory, host pattern and/or --limit leaves us with no hosts to target.';
  await events.take([event('verbose', {}, 'a warning'), event('verbose', {}, refusal)]);
  expect(events.isWithoutHosts()).toBe(true);
  expect(counters()).toEqual([]);
});

it('PlaybookEvents does not confuse output of a playbook with a limit that matches no host', async () => {
  await events.take([event('playbook_on_start')]);
  await events.take([event('verbose', {}, '--limit leaves us with no hosts to target')]);
  expect(events.isWithoutHosts()).toBe(false);
});

it('PlaybookEvents stores events before the statistics immediately, and later ones at the end', async () => {
  await events.take([event('runner_on_ok'), statistics(), event('verbose')]);
  await events.take([event('verbose')]);
  expect(counters()).toEqual([1]);
  await events.finish();
  expect(counters()).toEqual([1, 2, 3, 4]);
  expect(stored[1]?.eventData).toMatchObject({ artifact_data: { token: 'canary-run' } });
  expect(stored[1]?.stdout).toBe(recap);
  expect(events.fields()).toMatchObject({ artifacts: '{"token":"canary-run"}' });
  expect(events.secretArtifacts()).toEqual({});
});

it.each<[string, () => RunnerEvent[][]]>([
  ['before', () => [[censored(), statistics()], [event('verbose', {}, 'it was canary-run')]]],
  ['in a batch before', () => [[censored()], [statistics(), event('verbose', {}, 'canary-run')]]],
  ['after', () => [[statistics(), event('verbose', {}, 'canary-run')], [censored()]]],
  ['in the batch, after', () => [[statistics(), event('verbose', {}, 'canary-run'), censored()]]],
])('PlaybookEvents hides statistics if some were set under no_log %s them', async (_, batches) => {
  for (const batch of batches()) await events.take(batch);
  await events.finish();
  expect(counters()).toEqual([1, 2, 3]);
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
  const row = stored.find(({ event }) => event === 'playbook_on_stats');
  expect(row?.eventData).toMatchObject({ ok: { a: 1 }, artifact_data: HIDDEN });
  expect(row?.stdout.split('\n')).toHaveLength(5);
  expect(row?.stdout).toContain('PLAY RECAP');
  expect(events.fields()).toMatchObject({ artifacts: JSON.stringify(HIDDEN) });
  expect(events.secretArtifacts()).toEqual({ token: 'canary-run' });
});

it('PlaybookEvents hides statistics that the playbook marks with no_log, and removes the mark', async () => {
  const artifact_data = { _ansible_no_log: true, token: 'canary-run' };
  await events.take([event('playbook_on_stats', { artifact_data })]);
  await events.finish();
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
  expect(events.secretArtifacts()).toEqual({ token: 'canary-run' });
});

it('PlaybookEvents hides the statistics if too many events follow them', async () => {
  await events.take([statistics()]);
  await events.take(Array.from({ length: 1000 }, () => event('verbose', {}, 'canary-run')));
  expect(stored).toHaveLength(1001);
  await events.take([event('verbose')]);
  expect(counters().at(-1)).toBe(1002);
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
});

it('PlaybookEvents hides the statistics if too much data follows them', async () => {
  const data = { res: { msg: 'x'.repeat(600_000) } };
  await events.take([statistics()]);
  for (let index = 0; index < 10; index += 1) await events.take([event('runner_on_ok', data)]);
  expect(counters()).toHaveLength(11);
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
});

it('PlaybookEvents does not hide large statistics', async () => {
  const text = 'x'.repeat(5 * 1024 * 1024);
  await events.take([event('playbook_on_stats', { artifact_data: { a: 1 } }, text)]);
  await events.take([event('verbose')]);
  await events.finish();
  expect(events.fields()).toMatchObject({ artifacts: '{"a":1}' });
});

it('PlaybookEvents does not keep the data of later large statistics', async () => {
  const ok = Object.fromEntries(Array.from({ length: 5000 }, (_, id) => [`${id}`.padEnd(900), 1]));
  await events.take([statistics(), event('playbook_on_stats', { ok })]);
  await events.finish();
  expect(stored.map((row) => row.eventData)).toMatchObject([{ ok: { a: 1 } }, {}]);
  expect(stored[1]?.eventData).toEqual({});
  expect([...events.summaries.keys()]).toEqual(['a']);
});

it('PlaybookEvents keeps the summaries of at most 500,000 hosts', async () => {
  await events.take([event('playbook_on_stats', { ok: { 7: 1 } })]);
  const summary = entryOf(events.summaries, '7');
  for (let id = 0; id < 499_999; id += 1) events.summaries.set(`h${id}`, summary);
  await events.take([event('playbook_on_stats', { ok: { new: 1 }, failures: { 7: 1 } })]);
  expect(events.summaries.size).toBe(500_000);
  expect(events.summaries.get('7')).toMatchObject({ failures: 1, failed: true });
});

it('PlaybookEvents does not hold back much data before the playbook', async () => {
  const data = { res: { msg: 'x'.repeat(600_000) } };
  for (let index = 0; index < 10; index += 1) await events.take([event('verbose', data)]);
  expect(counters()).toHaveLength(10);
});

it('PlaybookEvents does not hold back much data that may start a secret', async () => {
  const secret = 'hunter2-'.repeat(100);
  const data = { res: { msg: 'x'.repeat(600_000) } };
  events = new PlaybookEvents(store, new ActiveRun(1, 1), createMasker([secret]));
  await events.take([event('playbook_on_start')]);
  for (let index = 0; index < 10; index += 1)
    await events.take([event('verbose', data, 'hunter2-')]);
  expect(counters().length).toBeGreaterThan(7);
});

it('PlaybookEvents hides the output after hidden statistics that are too many to be masked', async () => {
  const values = Array.from({ length: 40_000 }, (_, index) => `canary-${index}`);
  await events.take([event('playbook_on_start', {}, 'the start'), censored()]);
  await events.take([event('playbook_on_stats', { artifact_data: { values } }, recap)]);
  for (let index = 0; index < 20; index += 1)
    await events.take([censored(), event('verbose', { a: 'canary-7' }, 'say\ncanary-7')]);
  await events.finish();
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
  expect(stored[0]?.stdout).toBe('the start');
  expect(stored.at(-1)).toMatchObject({ stdout: `${HIDDEN}\n${HIDDEN}`, eventData: {} });
});

const TOO_LARGE = 'The values of set_stats are larger than 1000000 bytes and are not kept.';
const large = (bytes: number): string => `canary-${'x'.repeat(bytes)}`;

it('PlaybookEvents keeps no artifacts that are larger than 1 MB together', async () => {
  const statistic = (data: object) => event('playbook_on_stats', { artifact_data: data }, recap);
  await events.take([statistic({ a: 1, value: large(990_000) })]);
  expect(events.fields()).toMatchObject({ artifacts: expect.stringContaining('canary') });
  expect(events.hasLargeArtifacts).toBe(false);
  await events.take([statistic({ other: large(20_000) }), statistic({ later: large(23_000_000) })]);
  expect(events.fields()).toMatchObject({ artifacts: '{}' });
  expect(events.hasLargeArtifacts).toBe(true);
  await events.finish();
  expect(stored.at(-1)?.eventData).toEqual({ artifact_data: TOO_LARGE });
});

it.each<[string, () => RunnerEvent[]]>([
  ['by a task', () => [censored()]],
  ['by the statistics', () => []],
])('PlaybookEvents hides artifacts that are too large, with no_log set %s', async (_, before) => {
  const mark = before().length > 0 ? {} : { _ansible_no_log: true };
  const artifact_data = { ...mark, value: large(1_000_000) };
  await events.take([...before(), event('playbook_on_stats', { artifact_data }, recap)]);
  await events.take([event('verbose', {}, 'say canary-x')]);
  await events.finish();
  expect(JSON.stringify([stored, events.fields()])).not.toContain('canary');
  expect(events.secretArtifacts()).toEqual({});
  expect(events.hasLargeArtifacts).toBe(true);
});

it('PlaybookEvents masks the most hidden statistics in the longest line in bounded time', async () => {
  const started = performance.now();
  const values = Array.from({ length: 1000 }, (_, index) => `aaaaaa${index}`);
  await events.take([censored(), event('playbook_on_stats', { artifact_data: { values } })]);
  await events.take([event('verbose', {}, 'a'.repeat(1024 * 1024))]);
  await events.finish();
  expect(stored).toHaveLength(3);
  // Typically 300 ms; a comparison with each value takes a minute.
  expect(performance.now() - started).toBeLessThan(10_000);
});
