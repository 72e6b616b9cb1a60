import { html } from '../shared/html.js';
import type { RunFailure } from '../../runs/output/run-outputs.repository.js';
import { causeView } from './run-cause.js';

const failure = (more: Partial<RunFailure>): RunFailure => ({
  ...{ play: 'All', task: 'Start', dark: false, message: 'no', start_line: 1 },
  ...{ hosts: [{ id: 1, name: 'web-1' }], count: 1, total: 1, total_tasks: 1, total_hosts: 1 },
  ...more,
});
const shown = (failures: readonly RunFailure[]): string =>
  String(html`${causeView({ url: '/run/', status: 'failed' }, failures, '/events/')}`);

it('counts tasks and hosts, and links to the hosts that are not listed', () => {
  const totals = { total: 41, total_tasks: 1, total_hosts: 40 };
  const text = shown([failure({ count: 40, ...totals })]);
  expect(text).toContain('The run failed: one task on 40 hosts');
  expect(text).toContain('and 39 more hosts');
  expect(text).toContain('>Line 2<');
  expect(text).toContain('All 41 failures');
  expect(shown([failure({})])).not.toMatch(/more hosts|All \d+ failures/);
});
