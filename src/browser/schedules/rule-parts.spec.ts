import { readRule, ruleOf, describeRule, type RuleParts } from './rule-parts.js';

const NIGHTLY: RuleParts = {
  unit: 'day',
  every: 1,
  weekdays: [],
  nth: null,
  monthDay: null,
  date: '2026-01-31',
  time: '02:00',
  zone: 'Europe/Berlin',
  count: null,
  lastDay: null,
};

describe('schedule rules in words', () => {
  it.each<[string, Partial<RuleParts>, string]>([
    ['every day at 02:00, Europe/Berlin', {}, 'FREQ=DAILY;INTERVAL=1'],
    [
      'every 2 weeks on Monday, Friday at 02:00, Europe/Berlin',
      { unit: 'week', every: 2, weekdays: ['MO', 'FR'] },
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR',
    ],
    [
      'every month on the last Friday at 02:00, Europe/Berlin',
      { unit: 'month', weekdays: ['FR'], nth: -1 },
      'FREQ=MONTHLY;INTERVAL=1;BYDAY=FR;BYSETPOS=-1',
    ],
    [
      'every month on the last day at 02:00, Europe/Berlin, 3 times',
      { unit: 'month', monthDay: -1, count: 3 },
      'FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=-1;COUNT=3',
    ],
    [
      'every 15 minutes from 02:00 on, Europe/Berlin, until 2026-07-01',
      { unit: 'minute', every: 15, lastDay: '2026-07-01' },
      // The zone is two hours ahead in summer.
      'FREQ=MINUTELY;INTERVAL=15;UNTIL=20260701T215959Z',
    ],
    [
      'once, on 2026-01-31 at 02:00, Europe/Berlin',
      { unit: 'once' },
      'FREQ=DAILY;INTERVAL=1;COUNT=1',
    ],
  ])('%s', (words, changes, rule) => {
    const parts = { ...NIGHTLY, ...changes };
    const text = `DTSTART;TZID=Europe/Berlin:20260131T020000 RRULE:${rule}`;
    expect(ruleOf(parts)).toBe(text);
    expect(readRule(text)).toEqual(parts);
    expect(describeRule(parts)).toBe(words);
  });

  it('start in UTC in the notation of the API', () => {
    const text = 'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1';
    expect(ruleOf({ ...NIGHTLY, zone: 'UTC' })).toBe(text);
    expect(readRule(text)).toEqual({ ...NIGHTLY, zone: 'UTC' });
  });

  it('may list their parts in any order', () => {
    const text = 'DTSTART;TZID=Europe/Berlin:20260131T020000 RRULE:INTERVAL=1;FREQ=DAILY';
    expect(readRule(text)).toEqual(NIGHTLY);
  });

  it.each([
    'DTSTART:20260131T020030Z RRULE:FREQ=DAILY;INTERVAL=1',
    'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1;BYHOUR=1,2',
    'DTSTART:20260131T020000Z RRULE:FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=1,15',
    'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20270101T120000Z',
    'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20270101',
    'DTSTART:20260131T020000Z RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=3',
    'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1 RRULE:FREQ=WEEKLY;INTERVAL=1',
    'DTSTART:20260131T020000Z RRULE:FREQ=DAILY;INTERVAL=1 EXRULE:FREQ=WEEKLY;INTERVAL=1',
    'DTSTART;TZID=Nowhere/Land:20260131T020000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20270101T235959Z',
    'no rule at all',
  ])('are not available for %s, which contains more', (text) => {
    expect(readRule(text)).toBeNull();
  });
});
