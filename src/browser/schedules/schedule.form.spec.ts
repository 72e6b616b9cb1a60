import { Invalid } from '../../common/errors/errors.js';
import { ScheduleForm } from './schedule.form.js';

const ONCE = { unit: 'once', every: 1, start_date: '2030-01-31', start_time: '02:00', zone: 'UTC' };
const bodyOf = (values: object) => new ScheduleForm().toBody({ ...ONCE, ...values });

it('a schedule with a single start has no fields that repeat it', () => {
  const { rrule } = bodyOf({ every: 5, weekdays: [], nth: null, end_count: null, end_date: '' });
  expect(rrule).toBe('DTSTART:20300131T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1');
});

it.each([
  ['weekdays', ['MO']],
  ['nth', '1'],
  ['month_day', -1],
  ['end_count', 5],
  ['end_date', '2030-12-31'],
])('a schedule with a single start refuses %s', (name, value) => {
  const body = () => bodyOf({ [name]: value });
  expect(body).toThrow(Invalid);
  expect(body).toThrow(expect.objectContaining({ errors: { [name]: [expect.any(String)] } }));
});
