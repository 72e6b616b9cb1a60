import { eventLoopTime, longestTurn } from '../../test/support/event-loop.js';
import { Recurrence } from './recurrence.js';

const UTC = 'DTSTART:20260101T090000Z';
const DAILY = 'RRULE:FREQ=DAILY;INTERVAL=1';

describe('rules without occurrences', () => {
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
  ])('are searched once, %s', async (_what, rules, count) => {
    const recurrence = Recurrence.parse(`${UTC} ${rules}`);
    let found = 0;
    const time = await eventLoopTime(async () => {
      found = (await recurrence.upcoming(new Date('2026-01-01T00:00:00Z'), 10)).length;
      await recurrence.last();
      await recurrence.newest(new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z'));
    });
    expect(found).toBe(count);
    // Typically some hundred milliseconds. A search for each occurrence would take up to a minute.
    expect(time).toBeLessThan(3000);
  });

  it('do not prevent the search for occurrences of other rules', async () => {
    const rrule = `${UTC} RRULE:${never};UNTIL=20300101T000000Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;UNTIL=20260201T000000Z`;
    expect((await Recurrence.parse(rrule).last())?.toISOString().slice(0, 10)).toBe('2026-01-26');
  });
});

describe('rules with many candidates and no occurrences', () => {
  const days = 'BYDAY=MO,TU,WE,TH,FR,SA,SU';
  const hours = Array.from({ length: 24 }, (_, hour) => hour).join(',');

  it.each([
    ['in every month', 10, `FREQ=MONTHLY;INTERVAL=1;${days};BYSETPOS=32`],
    ['in every year', 10, 'FREQ=YEARLY;INTERVAL=1;BYDAY=MO,TU;BYSETPOS=366'],
    ['each day', 1, `FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=13;BYHOUR=${hours};BYSETPOS=25`],
  ])('yield to other work, %s', async (_what, count, rule) => {
    const recurrence = Recurrence.parse(`${UTC} ${Array(count).fill(`RRULE:${rule}`).join(' ')}`);
    const turns: number[] = [];
    // The best of three tries, because other processes can slow down a try.
    for (let tries = 0; tries < 3; tries++) {
      turns.push(
        await longestTurn(async () => {
          expect(await recurrence.upcoming(new Date('2026-01-01T00:00:00Z'), 10)).toEqual([]);
        }),
      );
    }
    // Without yielding, the search takes seconds.
    expect(Math.min(...turns)).toBeLessThan(200);
  });
});
