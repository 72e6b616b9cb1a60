import { eventLoopTime } from '../../test/support/event-loop.js';
import { Recurrence } from './recurrence.js';

const UTC = 'DTSTART:20260101T090000Z';
const DAILY = 'RRULE:FREQ=DAILY;INTERVAL=1';

describe('rules that never come', () => {
  const never = 'FREQ=DAILY;INTERVAL=1;BYMONTH=2;BYMONTHDAY=30';
  const eight = (kind: string): string => Array(8).fill(`${kind}:${never}`).join(' ');
  const many = 'FREQ=YEARLY;INTERVAL=1;BYDAY=MO,TU;BYSETPOS=366';

  it.each([
    [
      'among exceptions that take all out',
      `${DAILY} ${eight('EXRULE')} EXRULE:${DAILY.slice(6)}`,
      0,
    ],
    ['among exceptions', `${DAILY} ${eight('EXRULE')}`, 10],
    ['beside one that does', `${DAILY} ${eight('RRULE')}`, 10],
    ['with many days in every year', Array(10).fill(`RRULE:${many}`).join(' '), 0],
  ])('are gone through once, %s', async (_what, rules, count) => {
    const recurrence = Recurrence.parse(`${UTC} ${rules}`);
    let found = 0;
    const time = await eventLoopTime(async () => {
      found = recurrence.upcoming(new Date('2026-01-01T00:00:00Z'), 10).length;
      recurrence.last();
      recurrence.newest(new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z'));
    });
    expect(found).toBe(count);
    // Some hundred milliseconds; going through them for each occurrence took up to a minute.
    expect(time).toBeLessThan(3000);
  });

  it('let the others be found back and forth', () => {
    const rrule = `${UTC} RRULE:${never};UNTIL=20300101T000000Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;UNTIL=20260201T000000Z`;
    expect(Recurrence.parse(rrule).last()?.toISOString().slice(0, 10)).toBe('2026-01-26');
  });
});
