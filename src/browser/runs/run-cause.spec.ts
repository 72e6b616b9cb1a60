import { html } from '../shared/html.js';
import type { RunFailure } from '../../runs/events/run-outputs.repository.js';
import { failureList } from './run-cause.js';

const failure = (id: number, more: Partial<RunFailure>): RunFailure => ({
  ...{ id, play: 'All', task: 'Start', host_name: `web-${id}`, dark: false, message: 'no' },
  ...{ start_line: id, total: 4, ...more },
});

it('shows a message once, with all hosts it came from', () => {
  const failures = [
    failure(1, {}),
    failure(2, { message: 'other' }),
    failure(3, {}),
    failure(4, { dark: true }),
  ];
  const text = String(html`${failureList('/run/', failures, '/events/')}`);
  const items = text.split('<li>').slice(1);
  expect(items.map((item) => item.match(/web-\d/g))).toEqual([
    ['web-1', 'web-3'],
    ['web-2'],
    ['web-4'],
  ]);
  expect(items[0]).toContain('>Line 2<');
});
