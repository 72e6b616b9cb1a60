import { sql } from '../../src/database/sql.js';
import { SchedulesRepository } from '../../src/schedules/schedules.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let schedules: SchedulesRepository;
let id: number;

beforeAll(async () => {
  test = await boot();
  schedules = test.app.get(SchedulesRepository, { strict: false });
  const { make, home } = test;
  const template = await make.jobTemplate({ organization: home.organization.id });
  const row = await make.row('schedule', {
    name: 'Nightly',
    rrule: 'DTSTART:20200101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
    unified_job_template: template.id,
  });
  id = row.id;
});
beforeEach(() => schedules.update({ id }, { name: 'Nightly' }));
afterAll(() => test.close());

const nameNow = async (): Promise<unknown> =>
  (await test.database.row(sql`SELECT name FROM schedules WHERE id = ${id}`))?.name;

describe("TypeORM's repository methods", () => {
  it('are rolled back with their transaction', async () => {
    const failing = test.database.transaction(async () => {
      await schedules.update({ id }, { name: 'Weekly' });
      expect(await nameNow()).toBe('Weekly');
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(await nameNow()).toBe('Nightly');
  });

  it('commit immediately without a transaction, as one statement', async () => {
    const change = () => schedules.update({ id }, { name: 'Hourly' });
    expect(await countQueries(test.database, change)).toBe(1);
    expect(await nameNow()).toBe('Hourly');
  });

  it('lock rows in a transaction only', async () => {
    const lock = () =>
      schedules.findOne({
        select: { id: true },
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
    await expect(lock()).rejects.toThrow('transaction');
    expect(await test.database.transaction(lock)).toEqual({ id });
  });

  it('report the code of a database error', async () => {
    await expect(schedules.update({ id }, { unified_job_template_id: -1 })).rejects.toMatchObject({
      code: '23503',
    });
  });
});
