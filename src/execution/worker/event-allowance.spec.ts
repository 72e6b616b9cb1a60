import { storedEvent } from '../../runs/events/stored-event.js';
import { toEventRow } from '../runner/events.js';
import { EventAllowance } from './event-allowance.js';

const LIMITS = { JOB_EVENTS: 3, JOB_EVENT_BYTES: 1000 };

const rows = (from: number, to: number, stdout = 'x', data: object = {}) =>
  Array.from({ length: to - from + 1 }, (_, index) =>
    toEventRow({
      ...{ uuid: `u${from + index}`, counter: from + index, event: 'runner_on_ok', stdout },
      ...{ start_line: from + index, end_line: from + index + 1, event_data: data },
      created: '2026-01-01T00:00:00Z',
    }),
  );
const summaryOf = (events: readonly { counter: number; event: string; stdout: string }[]) =>
  events.map(({ counter, event, stdout }) => [counter, event, stdout]);

it('EventAllowance accepts events up to the limit, and adds one that reports the limit', () => {
  const allowance = new EventAllowance();
  const first = rows(1, 2);
  expect(allowance.take(first, LIMITS)).toEqual({ events: first.map(storedEvent), excess: '' });
  const why = 'The job made more than 3 events (JOB_EVENTS) and has been ended.';
  const { events, excess } = allowance.take(rows(3, 6), LIMITS);
  expect(excess).toBe(why);
  expect(summaryOf(events)).toEqual([
    [3, 'runner_on_ok', 'x'],
    [4, 'verbose', why],
  ]);
  expect(events[1]).toMatchObject({ startLine: 4, endLine: 5, eventData: {} });
});

it('EventAllowance accepts no events after the limit, and reports the limit once', () => {
  const allowance = new EventAllowance();
  allowance.take(rows(1, 4), LIMITS);
  expect(allowance.take(rows(5, 5), LIMITS)).toEqual({ events: [], excess: '' });
});

it.each([
  ['output', rows(1, 2, 'é'.repeat(300))],
  ['data', rows(1, 2, '', { res: { msg: 'é'.repeat(300) } })],
])('EventAllowance counts the bytes of event %s', (_, batch) => {
  const why =
    'The events of the job took more than 1000 bytes (JOB_EVENT_BYTES), so it has been ended.';
  const { events, excess } = new EventAllowance().take(batch, LIMITS);
  expect(excess).toBe(why);
  expect(summaryOf(events).at(-1)).toEqual([2, 'verbose', why]);
  expect(events).toHaveLength(2);
});
