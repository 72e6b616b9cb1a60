import { artifacts, hostSummariesOf } from '../../src/execution/runner/event-summaries.js';
import type { EventRow } from '../../src/runs/events/job-events.repository.js';
import { createMasker } from '../../src/execution/runner/masker.js';
import { createTestFolder, runPlaybook, type TestFolder } from './playbooks.js';

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.remove());

const PLAYBOOK = `
- name: first play
  hosts: all
  gather_facts: false
  tasks:
    - name: show
      debug: {msg: "{{ colour }} {{ remote_tower_id }} {{ plain }} {{ payload.text }} {{ payload.list }}"}
    - name: change
      command: echo one
    - name: tolerated
      command: /bin/false
      ignore_errors: true
    - name: hidden
      command: echo topsecret-word
      no_log: true
    - name: loud
      debug: {msg: "the password is {{ db_password }}"}
    - set_stats: {data: {answer: 42}, aggregate: false}
`;

// Releases before 2.19 wrap warnings.
it('secrets in warnings are masked, also across lines', async () => {
  const token = 'canary-of-many-words-in-pieces';
  const { events } = await runPlaybook(
    folder,
    '- hosts: "alpha:{{ token }}"\n  gather_facts: false\n  tasks: []\n',
    { extraVars: { token }, limit: `alpha:x-${token}` },
  );
  const shown = (rows: readonly EventRow[]): string => rows.map(({ stdout }) => stdout).join('\n');
  expect(shown(events).match(/ignoring: (x-)?canary-\S*\s*\S*in-pieces/g)).toHaveLength(2);
  const masked = shown(createMasker([token]).events(events));
  expect(masked).not.toMatch(/canary|of-many|words|pieces/);
  expect(masked.split('\n')).toHaveLength(shown(events).split('\n').length);
});

describe('a playbook that succeeds', () => {
  let events: EventRow[];
  beforeAll(async () => {
    const run = await runPlaybook(folder, PLAYBOOK, {
      extraVars: {
        plain: '{{ 40 + 2 }}',
        payload: { text: '{{ 1 + 1 }} \uD800 \u2028 ü 😀', list: ['{% raw %}'] },
        db_password: 'hunter2-xyz',
      },
      unsafeKeys: ['payload'],
    });
    expect(run.result).toMatchObject({ rc: 0, status: 'successful', stderrTail: '' });
    events = run.events;
  });

  const textOf = (name: string): string =>
    events
      .filter((row) => row.task === name)
      .map((row) => row.stdout)
      .join('\n');

  it('numbers its events in order and without gaps', () => {
    expect(events.map((row) => row.counter)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]?.event).toBe('playbook_on_start');
    expect(events.at(-1)?.event).toBe('playbook_on_stats');
  });

  it('has lines in sequence', () => {
    for (const [index, row] of events.entries()) {
      expect(row.startLine).toBe(index === 0 ? 0 : events[index - 1]?.endLine);
    }
  });

  it('builds a tree of playbook, play, task and host', () => {
    const byUuid = new Map(events.map((row) => [row.uuid, row]));
    for (const row of events.slice(1)) {
      const parent = byUuid.get(row.parentUuid);
      expect(parent?.eventLevel).toBe(row.event === 'playbook_on_stats' ? 0 : row.eventLevel - 1);
    }
  });

  it('uses group, host and controller variables of the inventory', () => {
    expect(textOf('show')).toContain('alpha 1 ');
    expect(textOf('show')).toContain('web 2 ');
  });

  it('evaluates the template of the job and keeps that of a launch as text', () => {
    expect(textOf('show')).toContain('42 {{ 1 + 1 }} \uFFFD');
    expect(textOf('show')).toContain('{% raw %}');
  });

  it('hides the data of a task under no_log', () => {
    const hidden = events.filter((row) => row.task === 'hidden' && row.event === 'runner_on_ok');
    expect(hidden).toHaveLength(2);
    expect(hidden[0]?.eventData['res']).toMatchObject({ censored: expect.any(String) });
    expect(JSON.stringify(events)).not.toContain('topsecret-word');
  });

  it('passes output and data to the masker', () => {
    const masker = createMasker(['hunter2-xyz']);
    const loud = events.filter((row) => row.task === 'loud');
    expect(JSON.stringify(loud)).toContain('hunter2-xyz');
    expect(JSON.stringify(masker.events(loud))).not.toContain('hunter2-xyz');
  });

  it('does not count an ignored failure as a failure', () => {
    const rows = events.filter((row) => row.event === 'runner_on_failed');
    expect(rows.map((row) => row.failed)).toEqual([false, false]);
  });

  it('ends with summaries by host and the custom statistics', () => {
    const stats = events.at(-1)!;
    expect(hostSummariesOf(stats).get('alpha')).toEqual({
      changed: 3,
      dark: 0,
      failures: 0,
      ok: 6,
      processed: 1,
      skipped: 0,
      ignored: 1,
      rescued: 0,
      failed: false,
    });
    expect(artifacts(stats)).toEqual({ answer: 42 });
    expect(stats).toMatchObject({ failed: false, changed: true });
  });
});

describe('a playbook with another result', () => {
  it('reports a failure, and an unreachable host', async () => {
    const playbook = `- hosts: all
  gather_facts: false
  vars:
    ansible_connection: "{{ 'ssh' if inventory_hostname == 'alpha' else 'local' }}"
    ansible_host: 127.0.0.1
    ansible_port: 9
  tasks: [{ping: }, {fail: {msg: "no"}}]
`;
    const { result, events } = await runPlaybook(folder, playbook);
    expect(result).toMatchObject({ rc: 4, status: 'failed' });
    const summaries = hostSummariesOf(events.at(-1)!);
    expect([...summaries.keys()].sort()).toEqual(['alpha', 'beta']);
    expect(summaries.get('alpha')).toMatchObject({ dark: 1, failures: 0, failed: true });
    expect(summaries.get('beta')).toMatchObject({ dark: 0, failures: 1, failed: true });
    expect(events.at(-1)?.failed).toBe(true);
    expect(events.find((row) => row.event === 'runner_on_unreachable')?.failed).toBe(true);
  });

  it('changes nothing in check mode, and applies tags and a limit longer than an argument', async () => {
    const playbook = `- hosts: all
  gather_facts: false
  tasks:
    - {name: marked, copy: {content: x, dest: "{{ target }}"}, tags: [one]}
    - {name: unmarked, debug: {msg: two}}
`;
    const target = `${folder.dir}/made-by-check`;
    const { result, events } = await runPlaybook(folder, playbook, {
      jobType: 'check',
      diffMode: true,
      tags: 'one',
      limit: Array.from({ length: 30_000 }, () => 'beta').join(),
      extraVars: { target },
    });
    expect(result.status).toBe('successful');
    expect(events.some((row) => row.task === 'unmarked')).toBe(false);
    const changed = events.filter((row) => row.task === 'marked' && row.event === 'runner_on_ok');
    expect(changed).toMatchObject([{ hostName: 'beta', changed: true }]);
    await expect(import('node:fs/promises').then((fs) => fs.stat(target))).rejects.toThrow(
      'ENOENT',
    );
  });

  it('converts a syntax error to verbose events', async () => {
    const { result, events } = await runPlaybook(folder, '- hosts: all\n  tasks:\n    - 1\n');
    expect(result).toMatchObject({ rc: 4, status: 'failed' });
    expect(new Set(events.map((row) => row.event))).toEqual(new Set(['verbose']));
    expect(events.map((row) => row.stdout).join('\n')).toMatch(/ERROR(!|\]:)/);
    expect(events.map((row) => row.counter)).toEqual(events.map((_, index) => index + 1));
  });

  it('reports a missing executable as an error', async () => {
    const { result } = await runPlaybook(folder, '[]', {}, { executable: 'no-such-runner' });
    expect(result).toMatchObject({ rc: null, status: 'error', error: { code: 'ENOENT' } });
  });

  it('ends with an error if events are rejected', async () => {
    const { result } = await runPlaybook(
      folder,
      PLAYBOOK.replaceAll('{{ plain }}', ''),
      {},
      { onEvents: () => Promise.reject(new Error('database is gone')) },
    );
    expect(result).toMatchObject({ status: 'error', error: { message: 'database is gone' } });
  });
});
