import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { LaunchLoader } from '../../src/launching/launch.loader.js';
import { boot, type TestApp } from '../support/boot.js';
import { launchJob } from '../support/runs.js';

let test: TestApp;
let owned: { organization: number };
let inventory: Row;
let template: Row;
beforeAll(async () => {
  test = await boot();
  owned = { organization: test.home.organization.id };
  inventory = await test.make.inventory(owned);
  template = await makeTemplate({
    ask_limit_on_launch: true,
    ask_variables_on_launch: true,
    ask_inventory_on_launch: true,
    ask_labels_on_launch: true,
  });
});
afterAll(() => test.close());

const makeTemplate = async (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({
    inventory: inventory.id,
    project: (await test.make.project(owned)).id,
    ...fields,
  });

const urlOf = ({ id }: Row): string => `jobs/${id}/create_schedule/`;

it('simultaneous requests create schedules with different names', async () => {
  const job = await launchJob(test, template, {});
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => test.as.superuser.post(urlOf(job))),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});

it('a schedule of a job launches with the fields of the job', async () => {
  const other = await test.make.inventory(owned);
  const label = await test.make.row('label', { ...owned, name: 'nightly' });
  const prompts = { limit: 'web', inventory: other.id, extra_vars: { a: 1 }, labels: [label.id] };
  const job = await launchJob(test, template, prompts);

  const about = await test.as.superuser.get(urlOf(job)).expect(200);
  expect(about.body).toEqual({
    can_schedule: true,
    prompts: {
      limit: 'web',
      inventory: { id: other.id, name: other.name },
      extra_vars: { a: 1 },
      labels: [{ id: label.id, name: 'nightly' }],
    },
  });

  const { body, headers } = await test.as.superuser.post(urlOf(job)).expect(201);
  expect(headers.location).toBe(body.url);
  expect(body).toMatchObject({
    type: 'schedule',
    name: `Auto-generated schedule from job ${job.id}`,
    unified_job_template: template.id,
    enabled: false,
    next_run: null,
    rrule: expect.stringMatching(/^DTSTART:\d{8}T\d{6}Z RRULE:FREQ=MONTHLY;INTERVAL=1$/),
    limit: 'web',
    inventory: other.id,
    extra_data: { a: 1 },
  });
  const labels = await test.as.superuser.get(`schedules/${body.id}/labels/`).expect(200);
  expect(labels.body.results).toMatchObject([{ id: label.id }]);
  const enabled = await test.as.superuser.patch(body.url, { enabled: true }).expect(200);
  expect(enabled.body.next_run).not.toBeNull();

  const second = await test.as.superuser.post(urlOf(job)).expect(201);
  expect(second.body.name).toBe(`Auto-generated schedule from job ${job.id} - number 1`);
});

it('a job links to the creation of a schedule', async () => {
  const job = await launchJob(test, template, {});
  const { body } = await test.as.superuser.get(`jobs/${job.id}/`).expect(200);
  expect(body.related.create_schedule).toBe(`/api/v2/${urlOf(job)}`);
});

it('credentials of the launch are added to those of the template', async () => {
  const [own, added] = [
    await test.make.credential(owned),
    await test.make.credential({
      ...owned,
      credential_type: await vaultType(),
      inputs: { vault_password: 'x' },
    }),
  ];
  const asking = await makeTemplate({ ask_credential_on_launch: true });
  await test.as.superuser
    .post(`job_templates/${asking.id}/credentials/`, { id: own.id })
    .expect(204);
  const job = await launchJob(test, asking, { credentials: [own.id, added.id] });
  const { body } = await test.as.superuser.post(urlOf(job)).expect(201);
  const { body: attached } = await test.as.superuser.get(`schedules/${body.id}/credentials/`);
  expect(attached.results).toMatchObject([{ id: added.id }]);
});

async function vaultType(): Promise<number> {
  const row = await test.database.row<Row>(sql`
    SELECT id FROM credential_types WHERE managed AND namespace = 'vault'`);
  return row!.id;
}

it('secret survey answers stay available to the user who gave them', async () => {
  const { as } = test;
  const asking = await makeTemplate();
  const question = { question_name: 'Key?', variable: 'key', type: 'password', required: true };
  await as.superuser
    .post(`job_templates/${asking.id}/survey_spec/`, {
      name: '',
      description: '',
      spec: [question],
    })
    .expect(200);
  await as.superuser.patch(`job_templates/${asking.id}/`, { survey_enabled: true }).expect(200);
  const job = await launchJob(test, asking, { extra_vars: { key: 'open sesame' } });

  const about = await as.superuser.get(urlOf(job)).expect(200);
  expect(about.body.prompts).toEqual({ extra_vars: { key: '$encrypted$' } });
  const { body, text } = await as.superuser.post(urlOf(job)).expect(201);
  expect(body.extra_data).toEqual({ key: '$encrypted$' });
  expect(text).not.toContain('open sesame');
  const refused = await as.orgAdmin.post(urlOf(job)).expect(403);
  expect(refused.body.detail).toBe(
    'Job was launched with secret prompts provided by another user.',
  );

  const withoutSurvey = { survey_enabled: false, ask_variables_on_launch: true };
  await as.superuser.patch(`job_templates/${asking.id}/`, withoutSurvey).expect(200);
  expect((await as.superuser.get(urlOf(job))).body.can_schedule).toBe(false);
  const shown = await as.superuser.post(urlOf(job)).expect(400);
  expect(shown.body).toEqual({
    detail:
      'Cannot create schedule because the survey does not ask for secret variables of the job.',
  });
});

it('a schedule is refused if the job cannot be relaunched', async () => {
  const { as, database } = test;
  const orphan = await launchJob(test, await makeTemplate(), {});
  await database.execute(sql`
    UPDATE unified_jobs SET unified_job_template_id = NULL WHERE id = ${orphan.id}`);
  const deleted = await test.make.inventory(owned);
  const withoutInventory = await launchJob(test, template, { inventory: deleted.id });
  await database.execute(sql`DELETE FROM inventories WHERE id = ${deleted.id}`);
  for (const job of [orphan, withoutInventory]) {
    expect((await as.superuser.get(urlOf(job))).body.can_schedule).toBe(false);
    const { body } = await as.superuser.post(urlOf(job)).expect(400);
    expect(body).toEqual({
      detail: 'Cannot create schedule because a related resource is missing.',
    });
  }

  const unasked = await launchJob(test, template, { limit: 'db' });
  await as.superuser.patch(`job_templates/${template.id}/`, { ask_limit_on_launch: false });
  const refused = await as.superuser.post(urlOf(unasked)).expect(400);
  expect(refused.body).toEqual({ limit: ['Field is not configured to prompt on launch.'] });
  await as.superuser.patch(`job_templates/${template.id}/`, { ask_limit_on_launch: true });
});

it('a schedule is refused if the job cleared a field, because the schedule would use the value of the template', async () => {
  const limited = await makeTemplate({ limit: 'web', ask_limit_on_launch: true });
  const job = await launchJob(test, limited, { limit: '' });
  expect((await test.as.superuser.get(urlOf(job))).body.can_schedule).toBe(false);
  const { body } = await test.as.superuser.post(urlOf(job)).expect(400);
  expect(body.detail).toBe(
    'Cannot create schedule because the job cleared a field of the template.',
  );
  await test.as.superuser.patch(`job_templates/${limited.id}/`, { limit: '' }).expect(200);
  await test.as.superuser.post(urlOf(job)).expect(201);
});

it('a schedule requires the permissions for the launch and its prompts', async () => {
  const { as, make, home } = test;
  const [shared, hidden] = [
    await makeTemplate({ ask_inventory_on_launch: true }),
    await make.inventory(owned),
  ];
  await make.grant('job_template', shared, 'read_role', { user: as.users.orgMember });
  const job = await launchJob(test, shared, { inventory: hidden.id });
  await as.outsider.get(urlOf(job)).expect(403);
  await as.orgMember.post(urlOf(job)).expect(403);
  await make.grant('job_template', shared, 'execute_role', { team: home.team });
  // Members of the team cannot use the inventory of the job.
  await as.teamMember.post(urlOf(job)).expect(403);
  await make.grant('inventory', hidden, 'use_role', { team: home.team });
  await as.teamMember.post(urlOf(job)).expect(201);
});

it('no schedule can be created if the template is deleted meanwhile', async () => {
  const made = await makeTemplate();
  const job = await launchJob(test, made, {});
  const loader = test.app.get(LaunchLoader, { strict: false });
  const { load } = loader;
  jest.spyOn(loader, 'load').mockImplementationOnce(async (...values) => {
    await test.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${made.id}`);
    return load.apply(loader, values);
  });
  const { body } = await test.as.superuser.get(urlOf(job)).expect(200);
  expect(body.can_schedule).toBe(false);
});
