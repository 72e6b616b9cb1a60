import type { OutputPart } from '../../runs/output/run-outputs.repository.js';
import { outputView } from './run-output.js';

const taskStart = (stdout: string): OutputPart => ({
  id: 1,
  counter: 1,
  event: 'playbook_on_task_start',
  host: null,
  state: null,
  stdout,
  start_line: 0,
  created: '2026-01-01T00:00:00Z',
  edge: true,
});

const view = (stdout: string): string =>
  String(
    outputView(
      { parts: [taskStart(stdout)], from: null },
      {
        run: { url: '/api/v2/jobs/1/', status: 'running' },
        isActive: true,
        hasLiveUpdates: true,
        search: null,
      },
    ),
  );

describe('outputView', () => {
  it('shows the current task', () => {
    expect(view('\nTASK [role : Install [1]] ****')).toContain('Task: role : Install [1], 0 hosts');
  });

  it('takes a time that grows with the length of the name of a task only', () => {
    const start = performance.now();
    expect(view(`\nTASK [${'['.repeat(200_000)}\n] ***`)).not.toContain('Task:');
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});
