/** Objects that the caller may not read have no name, except where a readable object refers to them. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';

const SECRET = 'Unseen';

let test: TestApp;
/** Client that administers a template of an organization without being its member. */
let guest: ApiClient;
let template: Row;
/** User of an organization whose users and teams the guest cannot see. */
let insider: Row;

beforeAll(async () => {
  test = await boot({ settings: { ORG_ADMINS_CAN_SEE_ALL_USERS: '0' } });
  const { as, make } = test;
  const organization = await make.organization({ name: `${SECRET} Organization` });
  const team = await make.team({ name: `${SECRET} Team`, organization: organization.id });
  insider = await make.user({ username: `${SECRET}-insider` });
  const project = await make.project({ organization: organization.id });
  template = await make.jobTemplate({ name: 'Shared', project: project.id });
  await make.grant('team', team, 'member_role', { user: insider });
  await make.grant('job_template', template, 'admin_role', { team });
  const user = await make.user({ username: 'guest' });
  await make.grant('job_template', template, 'admin_role', { user });
  await make.grant('team', team, 'member_role', { user: as.users.superuser });
  guest = await as.asUser(user);
});
afterAll(() => test.close());

const hiddenUrl = ({ id }: Row): string => `/api/v2/workflow_job_templates/${id}/`;

const expectNoName = (body: unknown): void => {
  expect(JSON.stringify(body)).not.toContain(SECRET);
};

it('access lists hide the names of unreadable teams and organizations', async () => {
  const url = `job_templates/${template.id}/access_list/`;
  const { body } = await guest.get(url).expect(200);
  const own = (body.results as Row[]).find(
    ({ username }) => username === 'superuser',
  ) as unknown as {
    summary_fields: { indirect_access: { role: object }[]; direct_access: { role: object }[] };
  };
  const { direct_access: direct, indirect_access: indirect } = own.summary_fields;
  const byTeam = [...direct, ...indirect].find(({ role }) => 'team_id' in role);
  expect(byTeam?.role).not.toHaveProperty('team_name');
  expectNoName(body);
  const all = await test.as.superuser.get(url).expect(200);
  expect(JSON.stringify(all.body)).toContain(`${SECRET} Team`);
  expect(JSON.stringify(all.body)).toContain(`${SECRET} Organization`);
});

it('runs and activity hide the name of an unreadable user', async () => {
  const run = await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, launch_type, created_by_id,
      unified_job_template_id, organization_id)
    SELECT 'job', name, 'successful', 'manual', ${insider.id}, id, organization_id
    FROM unified_job_templates WHERE id = ${template.id} RETURNING id`);
  const id = Number(run?.id);
  await test.database.execute(sql`
    INSERT INTO activity_stream (operation, changes, object1, object2, object_association,
      object_type, action_node, actor_id, actor_snapshot, object1_id, object1_name, object2_name,
      parent_type, parent_id)
    VALUES ('create', '{}', 'job', '', '', '', '', ${insider.id},
      ${JSON.stringify({ username: insider.username })}, ${id}, 'Shared', '',
      'job_template', ${template.id})`);
  const shown = await guest.get(`jobs/${id}/`).expect(200);
  expect(shown.body.launched_by).toEqual({
    id: insider.id,
    type: 'user',
    url: `/api/v2/users/${insider.id}/`,
  });
  const activity = await guest.get(`jobs/${id}/activity_stream/`).expect(200);
  expect(activity.body.count).toBe(1);
  expect(activity.body.results[0].summary_fields.actor).toEqual({ id: insider.id });
  expect(shown.body.summary_fields).not.toHaveProperty('created_by');
  for (const body of [shown.body, activity.body, (await guest.get('jobs/')).body]) {
    expect(JSON.stringify(body)).not.toContain(insider.username);
  }
  const all = await test.as.superuser.get(`jobs/${id}/`).expect(200);
  expect(all.body.launched_by.name).toBe(insider.username);
});

it('readers of a run see the names of its schedule and template', async () => {
  const { as, make, database } = test;
  const administrator = await make.user();
  const organization = await make.organization({});
  await make.grant('organization', organization, 'admin_role', { user: administrator });
  const reader = await as.asUser(administrator);
  const hidden = await make.workflowTemplate({ name: `${SECRET} Workflow` });
  const { body: schedule } = await as.superuser
    .post(`workflow_job_templates/${hidden.id}/schedules/`, {
      name: `${SECRET} Schedule`,
      rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
    })
    .expect(201);
  const run = async (type: string, launchType: string, scheduleId: number | null) => {
    const row = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, launch_type, schedule_id,
        unified_job_template_id, organization_id)
      VALUES (${type}, 'run', 'successful', ${launchType}, ${scheduleId}, ${hidden.id},
        ${organization.id}) RETURNING id`);
    return Number(row?.id);
  };
  const scheduled = await run('workflow_job', 'scheduled', schedule.id);
  const byEvent = await run('workflow_job', 'webhook', null);
  const { name } = hidden;
  for (const [id, launcher] of [
    [scheduled, { id: schedule.id, name: schedule.name, type: 'schedule', url: schedule.url }],
    [byEvent, { id: hidden.id, name, type: 'workflow_job_template', url: hiddenUrl(hidden) }],
  ] as const) {
    const { body } = await reader.get(`workflow_jobs/${id}/`).expect(200);
    expect(body.launched_by).toEqual(launcher);
    expect(body.summary_fields.unified_job_template).toMatchObject({ id: hidden.id, name });
    expect(body.summary_fields.workflow_job_template).toEqual({ id: hidden.id, name });
    await reader.get(launcher.url).expect(403);
  }
  for (const list of ['workflow_jobs/', 'unified_jobs/']) {
    expect((await reader.get(list).expect(200)).body.count).toBe(2);
    expect((await reader.get(`${list}?unified_job_template__name=${name}`)).body.count ?? 0).toBe(
      0,
    );
  }
});

it('named URLs do not confirm the name of an unreadable organization', async () => {
  const right = await guest.get(`job_templates/Shared++${SECRET} Organization/`).expect(404);
  const wrong = await guest.get('job_templates/Shared++No such Organization/').expect(404);
  expect(right.body).toEqual(wrong.body);
  await test.as.superuser.get(`job_templates/Shared++${SECRET} Organization/`).expect(200);
});

it('the response of a destination is hidden from users who do not manage the template', async () => {
  const { as, home, make } = test;
  const row = await make.notificationTemplate({ organization: home.organization.id });
  const record = await test.database.row<Row>(sql`
    INSERT INTO notifications (notification_template_id, notification_type, status)
    VALUES (${row.id}, 'webhook', 'failed') RETURNING id`);
  await test.database.execute(sql`
    INSERT INTO notification_attempts (notification_id, number, successful, status_code, detail)
    VALUES (${record?.id}, 1, false, 500, 'an answer')`);
  const auditor = await make.user();
  await make.grant('organization', home.organization, 'auditor_role', { user: auditor });
  const url = `notifications/${Number(record?.id)}/attempts/`;
  const { body } = await as.orgAdmin.get(url).expect(200);
  expect(body.results).toEqual([expect.objectContaining({ detail: 'an answer' })]);
  const reader = await as.asUser(auditor);
  await reader.get(`notifications/${Number(record?.id)}/`).expect(200);
  expect((await reader.get(url).expect(200)).body.results).toEqual([]);
  await reader.get(`notification_attempts/${Number(body.results[0].id)}/`).expect(403);
});
