import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let template: Row;

beforeAll(async () => {
  test = await boot();
  template = await test.make.jobTemplate({});
});
afterAll(() => test.close());

interface Run {
  type?: string;
  launchType?: string;
  userId?: number | null;
  scheduleId?: number | null;
  /** Workflow job of which it is a node. */
  around?: number | null;
}

async function run({
  type = 'job',
  launchType = 'manual',
  userId = null,
  scheduleId = null,
  around = null,
}: Run): Promise<number> {
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, launch_type, created_by_id, schedule_id,
      unified_job_template_id, workflow_job_id)
    VALUES (${type}, 'run', 'successful', ${around === null ? launchType : 'workflow'}, ${userId},
      ${scheduleId}, ${template.id}, ${around}) RETURNING id`);
  if (around !== null) {
    await test.database.execute(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, job_id, identifier)
      VALUES (${around}, ${row!.id}, 'one')`);
  }
  return row!.id;
}

it('each run of a page shows its own launcher, or that of the outermost workflow', async () => {
  const { orgAdmin, orgMember } = test.as.users;
  const schedule = (
    await test.as.superuser
      .post(`job_templates/${template.id}/schedules/`, {
        name: 'nightly',
        rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
      })
      .expect(201)
  ).body as Row;
  const scheduled = await run({
    type: 'workflow_job',
    launchType: 'scheduled',
    scheduleId: schedule.id,
  });
  const nested = await run({ type: 'workflow_job', around: scheduled });
  const byEvent = await run({ type: 'workflow_job', launchType: 'webhook' });
  const byHand = await run({ type: 'workflow_job', userId: orgAdmin.id });
  const expected: [number, object][] = [
    [await run({ userId: orgAdmin.id }), { type: 'user', name: 'orgAdmin' }],
    [await run({ userId: orgMember.id }), { type: 'user', name: 'orgMember' }],
    [await run({ launchType: 'scheduled', scheduleId: schedule.id }), { name: 'nightly' }],
    [await run({ around: nested }), { type: 'schedule', id: schedule.id, name: 'nightly' }],
    [await run({ around: byEvent }), { type: 'job_template', id: template.id }],
    [await run({ around: byHand, userId: orgMember.id }), { type: 'user', name: 'orgMember' }],
    [await run({ launchType: 'webhook' }), { type: 'job_template', id: template.id }],
    [await run({ launchType: 'dependency' }), { type: 'Dependency', id: null }],
  ];
  const nobody = await run({});
  const page = await test.as.superuser.get('jobs/?order_by=id').expect(200);
  const shown = page.body.results as (Row & { launched_by: object })[];
  expect(shown.map(({ id }) => id)).toEqual([...expected.map(([id]) => id), nobody]);
  for (const [id, launcher] of expected) {
    expect([id, shown.find((one) => one.id === id)!.launched_by]).toEqual([
      id,
      expect.objectContaining(launcher),
    ]);
  }
  expect(shown.at(-1)!.launched_by).toEqual({});
});
