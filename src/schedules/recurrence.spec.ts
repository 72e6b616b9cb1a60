import { Recurrence } from './recurrence.js';
import { RuleTextError } from './rule-text.js';
import { isZone, zonedInstantOf, zoneNames, localTime } from './zones.js';

const NEW_YORK = 'DTSTART;TZID=America/New_York:20260101T090000';
const UTC = 'DTSTART:20260101T090000Z';
const DAILY = 'RRULE:FREQ=DAILY;INTERVAL=1';

const range = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).join(',');
const faultsOf = (rrule: string): readonly string[] => {
  try {
    Recurrence.parse(rrule);
    return [];
  } catch (error) {
    if (error instanceof RuleTextError) return error.errors.rrule as string[];
    throw error;
  }
};
const after = async (rrule: string, instant: string): Promise<string | null> =>
  (await Recurrence.parse(rrule).after(new Date(instant)))?.toISOString() ?? null;
const utc = async (rrule: string, instant: string, count: number): Promise<string[]> =>
  (await Recurrence.parse(rrule).upcoming(new Date(instant), count)).map(({ utc }) => utc);

describe('the text of a rule', () => {
  it.each([
    [DAILY, 'Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ'],
    [
      `DTSTART:2026 ${DAILY}`,
      'Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ',
    ],
    [
      `DTSTART:20260101T090000 ${DAILY}`,
      'DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ.',
    ],
    [`${UTC} ${UTC} ${DAILY}`, 'Multiple DTSTART is not supported.'],
    [UTC, 'One or more rule required in rrule.'],
    [`${UTC} ${DAILY} EXDATE:20260101T090000Z`, 'EXDATE not allowed in rrule.'],
    [`${UTC} ${DAILY} RDATE:20260101T090000Z`, 'RDATE not allowed in rrule.'],
    [`${UTC} RRULE:FREQ=DAILY`, 'INTERVAL required in rrule: RRULE:FREQ=DAILY'],
    [`${UTC} ${DAILY} EXRULE:FREQ=DAILY`, 'INTERVAL required in rrule: EXRULE:FREQ=DAILY'],
    [
      `${UTC} RRULE:FREQ=SECONDLY;INTERVAL=1`,
      'SECONDLY is not supported: RRULE:FREQ=SECONDLY;INTERVAL=1',
    ],
    [
      `${UTC} RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=20MO`,
      'BYDAY with numeric prefix not supported: RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=20MO',
    ],
    [
      `${UTC} ${DAILY};COUNT=2;UNTIL=20270101T000000Z`,
      `RRULE may not contain both COUNT and UNTIL: ${DAILY};COUNT=2;UNTIL=20270101T000000Z`,
    ],
    [`${UTC} ${DAILY};COUNT=1000`, `COUNT > 999 is unsupported: ${DAILY};COUNT=1000`],
    [`DTSTART:20260231T090000Z ${DAILY}`, /^rrule parsing failed validation: /],
    [`DTSTART;TZID=Nowhere/At_All:20260101T090000 ${DAILY}`, /^rrule parsing failed validation: /],
    [
      `DTSTART:18000101T090000Z ${DAILY}`,
      'rrule parsing failed validation: DTSTART is too long ago',
    ],
    [`${UTC} ${DAILY};BYEASTER=0`, 'rrule parsing failed validation: unknown parameter BYEASTER'],
    [`${UTC} ${DAILY};BYMONTH=13`, 'rrule parsing failed validation: invalid BYMONTH: 13'],
    [`${UTC} ${DAILY};BYHOUR=1;BYHOUR=2`, 'rrule parsing failed validation: BYHOUR occurs twice'],
    [`${UTC} RRULE:INTERVAL=1`, 'rrule parsing failed validation: FREQ is missing'],
    [
      `${UTC} RRULE:FREQ=YEARLY;INTERVAL=2;BYYEARDAY=1;BYDAY=MO`,
      'rrule parsing failed validation: BYYEARDAY or BYWEEKNO with other days needs INTERVAL=1 and no BYSETPOS',
    ],
    [`${UTC} RRULE:FREQ=DAILY;INTERVAL=0`, 'rrule parsing failed validation: invalid INTERVAL: 0'],
    [`${UTC} ${DAILY};UNTIL=20261399`, 'rrule parsing failed validation: invalid UNTIL: 20261399'],
    [
      `${UTC} RRULE:FREQ=YEARLY;INTERVAL=1000`,
      'rrule parsing failed validation: INTERVAL is too large',
    ],
    [
      `${UTC} RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTHDAY=${range(1, 31)};BYHOUR=${range(0, 23)}`,
      'rrule parsing failed validation: too many occurrences, or rules',
    ],
    [
      `${UTC} ${Array.from({ length: 11 }, () => DAILY).join(' ')}`,
      'rrule parsing failed validation: too many occurrences, or rules',
    ],
    [
      `${UTC} RRULE:FREQ=DAILY;INTERVAL=1;BYHOUR=${range(0, 23)};BYMINUTE=0,15,30 EXRULE:FREQ=DAILY;INTERVAL=1`,
      'rrule parsing failed validation: too many occurrences, or rules',
    ],
    [`${UTC} ${DAILY}${' '.repeat(5000)}`, 'rrule parsing failed validation: the text is too long'],
    [`${UTC} ${DAILY} X-FOO:1`, 'rrule parsing failed validation: unsupported property: X-FOO:1'],
  ])('%j is refused', (rrule, fault) => {
    const [only, ...others] = faultsOf(rrule);
    if (fault instanceof RegExp) expect(only).toMatch(fault);
    else expect(only).toBe(fault);
    expect(others).toEqual([]);
  });

  it('is refused with all its errors', () => {
    expect(faultsOf('RRULE:FREQ=SECONDLY EXDATE:1')).toEqual([
      'Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ',
      'EXDATE not allowed in rrule.',
      'INTERVAL required in rrule: RRULE:FREQ=SECONDLY',
      'SECONDLY is not supported: RRULE:FREQ=SECONDLY',
    ]);
  });

  it('may contain every five minutes of working days', () => {
    const minutes = '0,5,10,15,20,25,30,35,40,45,50,55';
    const days = 'BYDAY=MO,TU,WE,TH,FR';
    expect(
      faultsOf(
        `${UTC} RRULE:FREQ=WEEKLY;INTERVAL=1;${days};BYHOUR=${range(8, 17)};BYMINUTE=${minutes}`,
      ),
    ).toEqual([]);
  });

  it('may contain several lines', () => {
    expect(faultsOf(`${NEW_YORK}\n${DAILY}\r\nEXRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=SU`)).toEqual([]);
  });
});

describe('occurrences', () => {
  it('keep the local time across a change of the clocks', async () => {
    expect(await utc(`${NEW_YORK} ${DAILY}`, '2026-03-06T20:00:00Z', 3)).toEqual([
      '2026-03-07T14:00:00Z',
      '2026-03-08T13:00:00Z',
      '2026-03-09T13:00:00Z',
    ]);
    expect(await utc(`${NEW_YORK} ${DAILY}`, '2026-10-31T20:00:00Z', 1)).toEqual([
      '2026-11-01T14:00:00Z',
    ]);
  });

  it.each([
    ['INTERVAL=12', ['2026-11-01T04:30:00Z', '2026-11-01T17:30:00Z', '2026-11-02T05:30:00Z']],
    ['INTERVAL=48', ['2026-11-02T05:30:00Z', '2026-11-04T05:30:00Z', '2026-11-06T05:30:00Z']],
    [
      'INTERVAL=2;BYHOUR=8',
      ['2026-11-01T13:30:00Z', '2026-11-02T13:30:00Z', '2026-11-03T13:30:00Z'],
    ],
  ])('keep the local hours of FREQ=HOURLY;%s', async (parts, expected) => {
    const start = 'DTSTART;TZID=America/New_York:20261001T003000';
    const rrule = `${start} RRULE:FREQ=HOURLY;${parts}`;
    expect(await utc(rrule, '2026-10-31T17:00:00Z', 3)).toEqual(expected);
  });

  it('omit a local time that the clock change skips', async () => {
    const rrule = `DTSTART;TZID=America/New_York:20260101T023000 ${DAILY}`;
    expect(await utc(rrule, '2026-03-07T00:00:00Z', 2)).toEqual([
      '2026-03-07T07:30:00Z',
      '2026-03-09T06:30:00Z',
    ]);
  });

  it('keep the local time of a start that the clock change skips', async () => {
    const start = 'DTSTART;TZID=America/New_York:20260308T023000';
    expect(await utc(`${start} ${DAILY}`, '2026-03-01T00:00:00Z', 2)).toEqual([
      '2026-03-09T06:30:00Z',
      '2026-03-10T06:30:00Z',
    ]);
    expect(await utc(`${start} RRULE:FREQ=WEEKLY;INTERVAL=2`, '2026-03-01T00:00:00Z', 1)).toEqual([
      '2026-03-22T06:30:00Z',
    ]);
    const halfAnHour = 'DTSTART;TZID=Australia/Lord_Howe:20261004T021500';
    expect(
      await utc(`${halfAnHour} RRULE:FREQ=HOURLY;INTERVAL=1`, '2026-10-01T00:00:00Z', 1),
    ).toEqual(['2026-10-03T16:15:00Z']);
  });

  it('occur once at a local time that is repeated', async () => {
    const rrule = `DTSTART;TZID=America/New_York:20260101T013000 ${DAILY}`;
    expect(await utc(rrule, '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30:00Z',
      '2026-11-02T06:30:00Z',
    ]);
  });

  it('are shown in the time zone and in UTC', async () => {
    expect(
      await Recurrence.parse(`${NEW_YORK} ${DAILY}`).upcoming(new Date('2026-07-01'), 1),
    ).toEqual([{ local: '2026-07-01T09:00:00-04:00', utc: '2026-07-01T13:00:00Z' }]);
  });

  it.each([
    [
      'FREQ=DAILY;INTERVAL=1;BYDAY=MO;COUNT=200',
      '2026-01-05T09:00:00Z',
      '2029-10-29T09:00:00.000Z',
    ],
    [
      'FREQ=MONTHLY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1;COUNT=60',
      '2026-01-01T09:00:00Z',
      '2030-12-02T09:00:00.000Z',
    ],
    [
      'FREQ=YEARLY;INTERVAL=1;BYDAY=MO;COUNT=900',
      '2026-01-05T09:00:00Z',
      '2043-03-30T09:00:00.000Z',
    ],
    [
      'FREQ=WEEKLY;INTERVAL=1;BYDAY=TH;BYMONTH=1;COUNT=100',
      '2026-01-01T09:00:00Z',
      '2048-01-09T09:00:00.000Z',
    ],
    [
      'FREQ=MINUTELY;INTERVAL=5;BYHOUR=3;COUNT=999',
      '2026-01-02T03:00:00Z',
      '2026-03-26T03:10:00.000Z',
    ],
  ])('of %s end with the last one that counts', async (rule, first, last) => {
    const rrule = `${UTC} RRULE:${rule}`;
    expect(await utc(rrule, '2025-12-31T00:00:00Z', 1)).toEqual([first]);
    expect(await after(rrule, new Date(Date.parse(last) - 1).toISOString())).toBe(last);
    expect(await after(rrule, last)).toBeNull();
  });

  it('of exception rules are omitted', async () => {
    const rrule = `${UTC} ${DAILY} EXRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=SA,SU`;
    expect(await utc(rrule, '2026-01-01T12:00:00Z', 2)).toEqual([
      '2026-01-02T09:00:00Z',
      '2026-01-05T09:00:00Z',
    ]);
    expect(
      await after(`${UTC} ${DAILY} EXRULE:FREQ=DAILY;INTERVAL=1`, '2026-01-01T12:00:00Z'),
    ).toBeNull();
  });

  it.each([
    'FREQ=MINUTELY;INTERVAL=1',
    'FREQ=MINUTELY;INTERVAL=5',
    'FREQ=HOURLY;INTERVAL=1;BYMINUTE=0,5,10,15,20,25,30,35,40,45,50,55',
  ])('of %s continue after an excepted weekend', async (rule) => {
    const rrule = `${UTC} RRULE:${rule} EXRULE:${rule};BYDAY=SA,SU`;
    const [friday, monday] = ['2026-01-02T23:59:00Z', '2026-01-05T00:00:00.000Z'];
    expect(await after(rrule, friday)).toBe(monday);
    const ending = rrule.replace(' EXRULE', ';UNTIL=20260104T235900Z EXRULE');
    const last = (await Recurrence.parse(ending).last())?.toISOString();
    expect(last).toMatch(/^2026-01-02T23:5[59]/);
  });

  it('of the first and the last working day of each year are found', async () => {
    const working = 'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR';
    const rrule = `${UTC} ${working};BYSETPOS=1 ${working};BYSETPOS=-1`;
    expect(await utc(rrule, '2026-03-01T00:00:00Z', 4)).toEqual([
      '2026-12-31T09:00:00Z',
      '2027-01-01T09:00:00Z',
      '2027-12-31T09:00:00Z',
      '2028-01-03T09:00:00Z',
    ]);
  });

  it.each([
    ['YEARLY;BYYEARDAY=1,2,3,4,5,6,7;BYDAY=MO', ['2026-01-05', '2027-01-04', '2028-01-03']],
    ['YEARLY;BYYEARDAY=1,100;BYDAY=MO', ['2029-01-01', '2034-04-10', '2035-01-01']],
    ['YEARLY;BYYEARDAY=1,2,32,40;BYMONTHDAY=1,2', ['2026-01-02', '2026-02-01', '2027-01-01']],
    ['YEARLY;BYWEEKNO=20', ['2026-05-14', '2027-05-20', '2028-05-18']],
    ['YEARLY;BYWEEKNO=20;BYMONTHDAY=13', ['2026-05-13', '2030-05-13', '2031-05-13']],
    ['MONTHLY;BYWEEKNO=20;BYMONTHDAY=13', ['2026-05-13', '2030-05-13', '2031-05-13']],
    ['MONTHLY;BYYEARDAY=100;BYDAY=MO,FR', ['2026-04-10', '2032-04-09', '2034-04-10']],
    ['MONTHLY;BYYEARDAY=100;BYMONTHDAY=10', ['2026-04-10', '2027-04-10', '2029-04-10']],
    ['WEEKLY;BYWEEKNO=20;BYMONTHDAY=13', ['2026-05-13', '2030-05-13', '2031-05-13']],
    ['WEEKLY;BYYEARDAY=60;BYDAY=MO', ['2027-03-01', '2038-03-01', '2044-02-29']],
    ['MONTHLY;BYYEARDAY=136;BYWEEKNO=20', ['2026-05-16', '2028-05-15', '2029-05-16']],
  ])('of FREQ=%s are on the days that all parts name', async (rule, dates) => {
    const rrule = `${UTC} RRULE:FREQ=${rule};INTERVAL=1`;
    const found = await utc(rrule, '2026-01-02T00:00:00Z', 3);
    expect(found).toEqual(dates.map((date) => `${date}T09:00:00Z`));
  });

  it('of several rules are in order', async () => {
    const rrule = `${UTC} RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=FR`;
    expect(await utc(rrule, '2026-01-01T12:00:00Z', 3)).toEqual([
      '2026-01-02T09:00:00Z',
      '2026-01-05T09:00:00Z',
      '2026-01-09T09:00:00Z',
    ]);
  });

  it('end the search for a date that never occurs', async () => {
    expect(
      await after(`${UTC} RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=2;BYMONTHDAY=30`, '2026-01-02'),
    ).toBeNull();
    expect(
      await after(`${UTC} RRULE:FREQ=MINUTELY;INTERVAL=1;BYMONTH=2;BYMONTHDAY=30`, '2026-01-02'),
    ).toBeNull();
    const hours = Array.from({ length: 24 }, (_, hour) => hour).join();
    const times = `BYHOUR=${hours};BYMINUTE=0,15,30,45;BYSETPOS=366;COUNT=999`;
    expect(await after(`${UTC} RRULE:FREQ=DAILY;INTERVAL=1;${times}`, '2026-01-02')).toBeNull();
  });
});

it.each([
  'FREQ=DAILY;INTERVAL=9999;COUNT=999',
  'FREQ=MONTHLY;INTERVAL=9999;COUNT=999',
  'FREQ=YEARLY;INTERVAL=999;BYHOUR=8;BYSETPOS=-366;COUNT=1',
])('%s has no occurrence after more than 400 years', async (rule) => {
  expect(await after(`${NEW_YORK} RRULE:${rule}`, '2500-01-01')).toBeNull();
});

describe('the first and last occurrence of a schedule', () => {
  it.each([
    [`${UTC} ${DAILY}`, '2026-01-01T09:00:00.000Z', null, ''],
    [`${UTC} ${DAILY};COUNT=3`, '2026-01-01T09:00:00.000Z', '2026-01-03T09:00:00.000Z', ''],
    [
      `${UTC} ${DAILY};UNTIL=20260104T090000Z`,
      '2026-01-01T09:00:00.000Z',
      '2026-01-04T09:00:00.000Z',
      '2026-01-04T09:00:00',
    ],
    [
      `${NEW_YORK} ${DAILY};UNTIL=20260701T090000`,
      '2026-01-01T14:00:00.000Z',
      '2026-07-01T13:00:00.000Z',
      '2026-07-01T09:00:00',
    ],
    [
      `${NEW_YORK} ${DAILY};UNTIL=20260701T125959Z`,
      '2026-01-01T14:00:00.000Z',
      '2026-06-30T13:00:00.000Z',
      '2026-07-01T08:59:59',
    ],
    [
      `${NEW_YORK} ${DAILY};UNTIL=20260102`,
      '2026-01-01T14:00:00.000Z',
      '2026-01-02T14:00:00.000Z',
      '2026-01-02T23:59:59',
    ],
    [`${UTC} ${DAILY};COUNT=2 RRULE:FREQ=YEARLY;INTERVAL=1`, '2026-01-01T09:00:00.000Z', null, ''],
  ])('%s', async (rrule, first, last, until) => {
    const recurrence = Recurrence.parse(rrule);
    expect((await recurrence.first())?.toISOString()).toBe(first);
    expect((await recurrence.last())?.toISOString() ?? null).toBe(last);
    expect(recurrence.until).toBe(until);
    expect(recurrence.timezone).toBe(rrule.startsWith(UTC) ? 'UTC' : 'America/New_York');
  });
});

describe('the newest occurrence', () => {
  const newest = async (rrule: string, known: string, instant: string): Promise<string> =>
    (await Recurrence.parse(rrule).newest(new Date(known), new Date(instant))).toISOString();

  it.each([
    [`${UTC} ${DAILY}`, '2026-01-02T09:00:00Z', '2026-01-02T09:00:01Z', '2026-01-02T09:00:00.000Z'],
    [`${UTC} ${DAILY}`, '2026-01-02T09:00:00Z', '2026-02-01T10:00:00Z', '2026-02-01T09:00:00.000Z'],
    [`${UTC} ${DAILY};COUNT=3`, '2026-01-02T09:00:00Z', '2027-01-01Z', '2026-01-03T09:00:00.000Z'],
    [
      `${UTC} RRULE:FREQ=MINUTELY;INTERVAL=1;BYDAY=MO`,
      '2026-01-05T00:00:00Z',
      '2026-02-01T12:00:00Z',
      '2026-01-26T23:59:00.000Z',
    ],
    [
      `${UTC} RRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29`,
      '2026-01-05T00:00:00Z',
      '2026-02-01T12:00:00Z',
      '2026-01-05T00:00:00.000Z',
    ],
  ])('%s after %s until %s', async (rrule, known, instant, expected) => {
    expect(await newest(rrule, known, instant)).toBe(expected);
  });
});

describe('time zones', () => {
  it.each([
    ['UTC', '2026-01-01T12:00:00Z', '2026-01-01T12:00:00.000Z'],
    ['Asia/Tokyo', '2026-01-01T12:00:00Z', '2026-01-01T03:00:00.000Z'],
    // The first local time is skipped by the clock change; the second occurs twice.
    ['America/New_York', '2026-03-08T02:30:00Z', '2026-03-08T07:30:00.000Z'],
    ['America/New_York', '2026-11-01T01:30:00Z', '2026-11-01T05:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-01-01T00:00:00Z', '2025-12-31T13:00:00.000Z'],
  ])('of %s at %s', (zone, local, instant) => {
    expect(zonedInstantOf(zone, new Date(local)).toISOString()).toBe(instant);
  });

  it('are listed under their former and their current names', () => {
    const names = zoneNames();
    expect(names).toEqual(expect.arrayContaining(['Asia/Calcutta', 'Asia/Kolkata', 'Europe/Kyiv']));
    expect(names.filter((name) => !isZone(name))).toEqual([]);
  });

  it('can have further names', () => {
    const zones = ['US/Eastern', 'Etc/GMT+5', 'Nowhere/Land', '+05:00', ''];
    expect(zones.filter(isZone)).toEqual(['US/Eastern', 'Etc/GMT+5']);
  });

  it('are kept once for all notations of a name', () => {
    localTime('Pacific/Apia', new Date());
    const formats = jest.spyOn(Intl, 'DateTimeFormat');
    for (const zone of ['pacific/apia', 'PACIFIC/APIA']) localTime(zone, new Date());
    expect(formats).not.toHaveBeenCalled();
    formats.mockRestore();
  });

  it('show the local time', () => {
    const shown = localTime('America/New_York', new Date('2026-07-01T04:00:00Z'));
    expect(shown.toISOString()).toBe('2026-07-01T00:00:00.000Z');
  });
});
