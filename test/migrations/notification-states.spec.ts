/** The migration gives records that waited for a retry as `pending` the status of their last attempt. */
import type { DataSource } from 'typeorm';

import { migrations } from '../../migrations/index.js';
import { createTestDatabase, openDataSource, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let source: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  source = await openDataSource(database.url);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const LATER = '2099-01-01T00:00:00Z';

it('each notification gets the status of its last attempt', async () => {
  const migration = new migrations.TellFailedAttempts1795328845180();
  const runner = source.createQueryRunner();
  await migration.down(runner);
  await runner.query(`
    WITH home AS (INSERT INTO organizations (name) VALUES ('home') RETURNING id
    ), hook AS (
      INSERT INTO notification_templates (name, organization_id, notification_type, destination)
      SELECT 'hook', id, 'webhook', 'd' FROM home RETURNING id
    ), records AS (
      INSERT INTO notifications (notification_template_id, subject, event, status, error, attempts,
        next_attempt_at, lease_until)
      SELECT id, given.* FROM hook, (VALUES
        ('untried', 'error', 'pending', '', 0, NULL::timestamptz, NULL::timestamptz),
        ('held', 'error', 'pending', 'not reached', 0, '2099-01-01Z', NULL),
        ('waiting', 'error', 'pending', '503', 2, '2099-01-01Z', NULL),
        ('wordless', 'error', 'pending', '', 2, NULL, NULL),
        ('test', 'test', 'pending', '503', 1, '2099-01-01Z', NULL),
        ('under way', 'error', 'pending', '', 1, NULL, now() + interval '20 seconds'),
        ('over', 'error', 'failed', '400', 1, NULL, NULL)
      ) AS given RETURNING id, subject
    )
    INSERT INTO notification_attempts (notification_id, number, successful, detail)
    SELECT id, number, FALSE, 'answer ' || number FROM records, generate_series(1, 2) AS number
    WHERE subject = 'wordless'`);
  await migration.up(runner);

  const read = async (): Promise<Record<string, unknown>[]> =>
    (await runner.query(`
      SELECT subject, status, error, next_attempt_at FROM notifications ORDER BY id`)) as Record<
      string,
      unknown
    >[];
  expect(await read()).toEqual([
    { subject: 'untried', status: 'pending', error: '', next_attempt_at: null },
    { subject: 'held', status: 'pending', error: 'not reached', next_attempt_at: LATER },
    { subject: 'waiting', status: 'failed', error: '503', next_attempt_at: LATER },
    {
      subject: 'wordless',
      status: 'failed',
      error: 'answer 2',
      next_attempt_at: expect.stringMatching(/Z$/),
    },
    { subject: 'test', status: 'failed', error: '503', next_attempt_at: null },
    { subject: 'under way', status: 'pending', error: '', next_attempt_at: null },
    { subject: 'over', status: 'failed', error: '400', next_attempt_at: null },
  ]);
  await migration.down(runner);
  const waiting = (await read()).filter(({ status }) => status === 'pending');
  expect(waiting.map(({ subject }) => subject)).toEqual([
    'untried',
    'held',
    'waiting',
    'wordless',
    'under way',
  ]);
  await runner.release();
});
