import { displayArtifacts } from '../../runs/artifacts.js';
import { EVENT_KINDS } from './event-kinds.js';
import { artifacts, countRun, hostSummariesOf, setsHiddenStats } from './event-summaries.js';
import { isRunnerEvent, MAX_RESULT_BYTES, type RunnerEvent, toEventRow } from './events.js';

function event(name: string, data: object = {}, more: object = {}): RunnerEvent {
  return {
    uuid: 'u',
    counter: 1,
    event: name,
    event_data: data,
    created: '2026-01-02T03:04:05.678901',
    ...more,
  };
}

describe('EVENT_KINDS', () => {
  it('contains every name of the contract at its level', () => {
    const namesAt = (level: number): string[] =>
      [...EVENT_KINDS].filter(([, kind]) => kind.level === level).map(([name]) => name);
    expect([0, 1, 2, 3].map((level) => namesAt(level).length)).toEqual([7, 3, 8, 15]);
    expect(namesAt(1)).toEqual([
      'playbook_on_play_start',
      'playbook_on_vars_prompt',
      'playbook_on_stats',
    ]);
  });

  it('marks events of failures', () => {
    const failing = [...EVENT_KINDS].filter(([, kind]) => kind.failed).map(([name]) => name);
    expect(failing).toEqual([
      'error',
      'runner_on_failed',
      'runner_on_error',
      'runner_on_unreachable',
      'runner_on_async_failed',
      'runner_item_on_failed',
    ]);
  });
});

describe('toEventRow', () => {
  it.each([
    ['playbook_on_start', {}, 'Playbook Started', 0],
    ['playbook_on_play_start', { play: 'p' }, 'Play Started (p)', 1],
    ['playbook_on_task_start', { task: 't' }, 'Task Started (t)', 2],
    ['playbook_on_task_start', { task: 't', role: 'r' }, 'Task Started (r | t)', 2],
    ['playbook_on_task_start', { task: 't', is_conditional: true }, 'Handler Notified (t)', 2],
    [
      'runner_on_ok',
      { res: { ansible_job_id: '1', invocation: { module_name: 'command' } } },
      'Host Async Started',
      3,
    ],
    [
      'runner_on_ok',
      { res: { ansible_job_id: '1', invocation: { module_name: 'async_status' } } },
      'Host Async Checking',
      3,
    ],
    ['runner_on_ok', { res: { ansible_job_id: '1', invocation: null } }, 'Host OK', 3],
    ['runner_on_failed', { res: { msg: 'timed out' } }, 'Host Async Timeout', 3],
    ['runner_on_async_ok', { res: { rc: 1 } }, 'Host Async Failed', 3],
    ['runner_on_async_ok', { res: { rc: 0 } }, 'Host Async OK', 3],
    ['runner_on_start', {}, 'Host Started', 3],
    ['runner_on_something_new', {}, 'runner_on_something_new', 0],
  ])('sets the display name of %s %j to %s', (name, data, display, level) => {
    expect(toEventRow(event(name, data))).toMatchObject({
      eventDisplay: display,
      eventLevel: level,
    });
  });

  it.each([
    ['runner_on_failed', {}, true],
    ['runner_on_failed', { ignore_errors: true }, false],
    ['runner_on_failed', { ignore_errors: null }, true],
    ['runner_on_unreachable', {}, true],
    ['runner_on_ok', { res: { failed: true } }, false],
    ['error', {}, true],
    ['playbook_on_stats', { failures: { a: 1 } }, true],
    ['playbook_on_stats', { dark: { a: 1 } }, true],
    ['playbook_on_stats', { failures: {}, dark: {} }, false],
  ])('sets, for %s %j, failed=%s', (name, data, failed) => {
    expect(toEventRow(event(name, data)).failed).toBe(failed);
  });

  it('reads changed from the result or the statistics', () => {
    expect(toEventRow(event('runner_on_ok', { res: { changed: true } })).changed).toBe(true);
    expect(toEventRow(event('playbook_on_stats', { changed: { a: 2 } })).changed).toBe(true);
    expect(
      toEventRow(event('runner_on_ok', { res: { changed: 'no' } }, { event_data: null })).changed,
    ).toBe(false);
  });

  it('truncates every text and removes characters that cannot be stored', () => {
    const row = toEventRow(
      event(
        'runner_on_ok',
        {
          play: ' p ',
          task: 't'.repeat(2000),
          host: 'a\0b',
          res: { 'k\0': ['\uD800x', { __proto__: 1 }] },
        },
        { stdout: 'one\0two\uDFFF', uuid: 'x\0', parent_uuid: 'p'.repeat(100) },
      ),
    );
    expect(row.task).toHaveLength(1024);
    expect(row.parentUuid).toHaveLength(64);
    expect(row.task.endsWith('…')).toBe(true);
    expect(row).toMatchObject({ play: 'p', hostName: 'ab', stdout: 'onetwo\uFFFD', uuid: 'x' });
    expect(row.eventData['res']).toEqual({ k: ['\uFFFDx', {}] });
    expect(JSON.stringify(row)).not.toContain('\\u0000');
  });

  it('replaces a result that is too large, and keeps its status', () => {
    const res = { changed: true, rc: 0, stdout: 'x'.repeat(MAX_RESULT_BYTES) };
    const row = toEventRow(event('runner_on_ok', { res }));
    expect(row.eventData['res']).toEqual({
      changed: true,
      rc: 0,
      msg: expect.stringContaining('is not stored'),
    });
    expect(row.changed).toBe(true);
    const list = ['x'.repeat(MAX_RESULT_BYTES)];
    for (const hostile of [list, { rc: list }])
      expect(toEventRow(event('runner_on_ok', { res: hostile })).eventData['res']).toEqual({
        msg: expect.stringContaining('is not stored'),
      });
  });

  it.each([
    ['objects', 20_000, 25_000, {}],
    ['numbers', 99_000, 101_000, 0],
  ])('replaces a result with too many %s', (_kind, few, many, value) => {
    const resOf = (length: number): unknown => {
      const res = { rc: 0, list: Array.from({ length }, () => value) };
      return toEventRow(event('runner_on_ok', { res })).eventData['res'];
    };
    expect(resOf(few - 10)).toMatchObject({ list: expect.any(Array) });
    expect(resOf(many)).toEqual({ rc: 0, msg: expect.stringContaining('is not stored') });
  });

  it('removes unknown data of an event with too many values', () => {
    const kept = { host: 'h', res: { rc: 0 } };
    const other = Array.from({ length: 101_000 }, () => 0);
    expect(toEventRow(event('runner_on_ok', { ...kept, other })).eventData).toEqual(kept);
    const stats = { ok: Object.fromEntries(other.map((_, id) => [`web-${id}`, 1])) };
    expect(toEventRow(event('playbook_on_stats', stats)).eventData).toEqual(stats);
  });

  it('removes unknown data of an event that is too large, and keeps its names and result', () => {
    const other = ['x'.repeat(2_000_000)];
    const kept = { host: 'h', ignore_errors: true, res: { rc: 0 } };
    const data = { ...kept, play: other, other };
    expect(toEventRow(event('runner_on_ok', data)).eventData).toEqual(kept);
  });

  it('keeps a result that no_log censored', () => {
    const res = { censored: 'hidden', changed: false };
    expect(toEventRow(event('runner_on_ok', { res })).eventData['res']).toEqual(res);
  });

  it.each([
    [event('verbose'), '2026-01-02T03:04:05.678901Z'],
    [event('verbose', {}, { created: '2026-01-02T03:04:05Z' }), '2026-01-02T03:04:05.000Z'],
    [event('verbose', {}, { created: '2026-02-30T03:04:05Z' }), '2026-03-02T03:04:05.000Z'],
    [event('verbose', {}, { created: '0000-01-02T03:04:05Z' }), expect.stringMatching(/^20/)],
    [event('verbose', {}, { created: 7 }), expect.stringMatching(/^\d{4}-.*Z$/)],
  ])('marks the time as UTC', (given, created) => {
    expect(toEventRow(given).created).toEqual(created);
  });

  it('accepts unexpected values in every field', () => {
    const row = toEventRow({
      ...event('verbose'),
      event_data: [1],
      stdout: 4,
      start_line: -1,
      end_line: 'x',
      verbosity: null,
      parent_uuid: {},
    });
    expect(row).toMatchObject({
      eventData: {},
      stdout: '4',
      startLine: 0,
      endLine: 0,
      verbosity: 0,
      parentUuid: '',
    });
  });

  it('ignores numbers that the database cannot store', () => {
    const numbers = { start_line: 2_147_483_648, end_line: 2 ** 53 - 1, verbosity: 3e9 };
    const row = toEventRow(event('playbook_on_stats', { ok: { a: 3e9 } }, numbers));
    expect(row).toMatchObject({ startLine: 0, endLine: 0, verbosity: 0 });
    expect(hostSummariesOf(row).get('a')).toMatchObject({ ok: 0 });
  });

  it('truncates a deeply nested result', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
    const { eventData } = toEventRow({ ...event('runner_on_ok'), event_data: { res: deep } });
    expect(JSON.stringify(eventData)).toContain('{"a":null}');
  });

  it('distinguishes events from other JSON', () => {
    expect(isRunnerEvent(event('verbose'))).toBe(true);
    expect(isRunnerEvent({ uuid: 'u', event: 'x', counter: '1' })).toBe(false);
  });
});

describe('summaries', () => {
  const stats = {
    event: 'playbook_on_stats',
    eventData: {
      ok: { a: 2, b: 1, ['__proto__']: 1 },
      changed: { a: 1 },
      dark: { b: 1 },
      failures: {},
      processed: { a: 1, b: 1 },
      artifact_data: { k: 'v\0' },
    },
  };

  it('count the results of each host', () => {
    const summaries = hostSummariesOf(stats);
    expect([...summaries.keys()]).toEqual(['a', 'b', '__proto__']);
    expect(summaries.get('a')).toMatchObject({ ok: 2, changed: 1, failures: 0, failed: false });
    expect(summaries.get('b')).toMatchObject({ ok: 1, dark: 1, failed: true });
  });

  it('return artifacts, or a placeholder if they are hidden', () => {
    expect(artifacts(stats)).toEqual({ k: 'v' });
    expect(displayArtifacts({ k: 1 })).toEqual({ k: 1 });
    expect(displayArtifacts({ k: 1, _ansible_no_log: true })).toBe(
      '$hidden due to Ansible no_log flag$',
    );
  });

  it('detect set_stats under no_log by each of its names', () => {
    const hidden = { censored: 'the output has been hidden' };
    const sets = (eventData: Record<string, unknown>) => setsHiddenStats({ eventData });
    expect(sets({ task_action: 'set_stats', res: hidden })).toBe(true);
    expect(sets({ task_action: 'ansible.builtin.set_stats', res: hidden })).toBe(true);
    expect(sets({ task_action: 'mine', resolved_action: 'set_stats', res: hidden })).toBe(true);
    expect(sets({ task_action: 'set_stats', res: { ansible_stats: {} } })).toBe(false);
    expect(sets({ task_action: 'command', res: hidden })).toBe(false);
    expect(sets({})).toBe(false);
  });

  it('are empty for other events', () => {
    const other = { event: 'verbose', eventData: stats.eventData };
    expect(hostSummariesOf(other).size).toBe(0);
    expect(artifacts(other)).toEqual({});
  });

  it('count plays and tasks', () => {
    const rows = ['playbook_on_play_start', 'playbook_on_task_start', 'playbook_on_task_start'];
    const counts = countRun(
      rows.map((name) => ({ event: name })),
      { playCount: 1, taskCount: 1 },
    );
    expect(counts).toEqual({ playCount: 2, taskCount: 3 });
  });
});
