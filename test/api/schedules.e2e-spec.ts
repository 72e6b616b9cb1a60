import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import type { PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

const DAILY = 'DTSTART;TZID=America/New_York:20300101T090000 RRULE:FREQ=DAILY;INTERVAL=1';
const SOON = 'DTSTART:20300101T080000Z RRULE:FREQ=DAILY;INTERVAL=1';

let test: TestApp;
let template: Row;
beforeAll(async () => {
  test = await boot();
  const organization = test.home.organization.id;
  const project = (await test.make.project({ organization })).id;
  const inventory = (await test.make.inventory({ organization })).id;
  template = await test.make.jobTemplate({
    project,
    inventory,
    ask_limit_on_launch: true,
    ask_credential_on_launch: true,
  });
  await test.make.grant('job_template', template, 'admin_role', { user: test.as.users.orgMember });
});
afterAll(() => test.close());

let counter = 0;
const nameOf = (): string => `Schedule ${(counter += 1)}`;
const create = (fields: object = {}, of: Row = template, persona: PersonaName = 'orgMember') =>
  test.as[persona].post('schedules/', {
    name: nameOf(),
    rrule: DAILY,
    unified_job_template: of.id,
    ...fields,
  });

describe('a schedule', () => {
  it('shows its times, its template and its creator', async () => {
    const { body, headers } = await create({
      limit: 'web',
      rrule: `${DAILY};UNTIL=20300701T090000`,
    }).expect(201);
    const url = `/api/v2/schedules/${body.id}/`;
    expect(headers.location).toBe(url);
    expect(body).toMatchObject({
      type: 'schedule',
      url,
      enabled: true,
      limit: 'web',
      verbosity: null,
      extra_data: {},
      execution_environment: null,
      dtstart: '2030-01-01T14:00:00Z',
      dtend: '2030-07-01T13:00:00Z',
      next_run: '2030-01-01T14:00:00Z',
      timezone: 'America/New_York',
      until: '2030-07-01T09:00:00',
      last_run: null,
      last_run_explanation: '',
      related: {
        unified_job_template: `/api/v2/job_templates/${template.id}/`,
        jobs: `${url}jobs/`,
        unified_jobs: `${url}jobs/`,
        project: `/api/v2/projects/${template.project_id as number}/`,
        credentials: `${url}credentials/`,
        labels: `${url}labels/`,
        instance_groups: `${url}instance_groups/`,
      },
      summary_fields: {
        unified_job_template: { id: template.id, name: template.name, unified_job_type: 'job' },
        created_by: { username: 'orgMember' },
        user_capabilities: { edit: true, delete: true },
      },
    });
    // Exports take it for the inventory of the schedule itself.
    expect(body.related).not.toHaveProperty('inventory');
    expect(body).not.toHaveProperty('survey_passwords');
  });

  it('can be disabled even if its rule can no longer be evaluated', async () => {
    const made = (await create().expect(201)).body;
    const unknown = DAILY.replace('America/New_York', 'Nowhere/Land');
    await test.database.execute(sql`
      UPDATE schedules SET rrule = ${unknown} WHERE id = ${made.id as number}`);
    const client = test.as.orgMember;
    const { body } = await client.patch(`schedules/${made.id}/`, { enabled: false }).expect(200);
    expect(body).toMatchObject({ enabled: false, next_run: null });
    await client.patch(`schedules/${made.id}/`, { enabled: true }).expect(400);
  });

  it('has a next run only if it is enabled', async () => {
    const made = (await create({ enabled: false }).expect(201)).body;
    expect(made).toMatchObject({ enabled: false, next_run: null });
    const client = test.as.orgMember;
    const on = await client.patch(`schedules/${made.id}/`, { enabled: true }).expect(200);
    expect(on.body.next_run).toBe('2030-01-01T14:00:00Z');
    const moved = await client.patch(`schedules/${made.id}/`, { rrule: SOON }).expect(200);
    expect(moved.body).toMatchObject({ next_run: '2030-01-01T08:00:00Z', timezone: 'UTC' });
    const past = 'DTSTART:20200101T000000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=3';
    const over = await client.patch(`schedules/${made.id}/`, { rrule: past }).expect(200);
    expect(over.body).toMatchObject({ next_run: null, dtend: '2020-01-03T00:00:00Z' });
  });

  it.each([
    [
      'nonsense',
      [
        'Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ',
        'One or more rule required in rrule.',
      ],
    ],
    ['', ['This field may not be blank.']],
    ['DTSTART:20300101T000000Z RRULE:FREQ=DAILY', ['INTERVAL required in rrule: RRULE:FREQ=DAILY']],
  ])('refuses the rule %j', async (rrule, texts) => {
    expect((await create({ rrule }).expect(400)).body).toEqual({ rrule: texts });
  });

  it('reports all errors together', async () => {
    const { body } = await create({ rrule: 'x', verbosity: 3, extra_data: { a: 1 } }).expect(400);
    expect(body).toEqual({
      rrule: [expect.any(String), expect.any(String)],
      verbosity: ['Field is not configured to prompt on launch.'],
      extra_data: [expect.stringMatching(/^Variables a are not allowed on launch/)],
    });
  });

  it('has a unique name within its template', async () => {
    await create({ name: 'Nightly' }).expect(201);
    expect((await create({ name: 'Nightly' }).expect(400)).body).toEqual({
      __all__: ['Schedule with this (unified_job_template, name) combination already exists.'],
    });
    const other = await test.make.jobTemplate();
    await create({ name: 'Nightly' }, other, 'superuser').expect(201);
  });

  it('cannot move to another template', async () => {
    const { body } = await create().expect(201);
    const other = await test.make.jobTemplate();
    const path = `schedules/${body.id}/`;
    const moved = { unified_job_template: other.id };
    expect((await test.as.superuser.patch(path, moved).expect(400)).body).toEqual({
      unified_job_template: ['A schedule cannot be moved to another template.'],
    });
    await test.as.superuser.patch(path, { unified_job_template: template.id }).expect(200);
  });

  it('can be changed if its template no longer prompts for its fields', async () => {
    const { superuser } = test.as;
    const prompting = await test.make.jobTemplate({ ask_limit_on_launch: true });
    const values = { unified_job_template: prompting.id, limit: 'web' };
    const { body } = await superuser
      .post('schedules/', { name: 'Kept', rrule: DAILY, ...values })
      .expect(201);
    const url = `job_templates/${prompting.id}/`;
    await superuser.patch(url, { ask_limit_on_launch: false }).expect(200);
    const changed = await superuser.patch(`schedules/${body.id}/`, { enabled: false }).expect(200);
    expect(changed.body).toMatchObject({ enabled: false, limit: 'web' });
    const refused = await superuser.patch(`schedules/${body.id}/`, { limit: 'db' }).expect(400);
    expect(refused.body).toEqual({ limit: ['Field is not configured to prompt on launch.'] });
  });

  it('encrypts the secret answers of a survey', async () => {
    const asked = await test.make.jobTemplate({ survey_enabled: true });
    const question = { type: 'password', variable: 'token', question_name: 'T', required: true };
    await test.as.superuser
      .post(`job_templates/${asked.id}/survey_spec/`, {
        name: '',
        description: '',
        spec: [{ ...question, min: 0, max: 99, default: '' }],
      })
      .expect(200);
    const { body } = await create(
      { extra_data: { token: 'canary-word' } },
      asked,
      'superuser',
    ).expect(201);
    expect(body.extra_data).toEqual({ token: '$encrypted$' });
    const again = await test.as.superuser
      .patch(`schedules/${body.id}/`, { extra_data: { token: '$encrypted$' } })
      .expect(200);
    expect(again.body.extra_data).toEqual({ token: '$encrypted$' });
    const stored = await test.database.row(sql`
      SELECT s::text AS text FROM schedules s WHERE id = ${body.id as number}`);
    expect(String(stored!.text)).not.toContain('canary-word');
    expect(String(stored!.text)).toContain('$sealed$');
  });

  it('requires a template that can be launched', async () => {
    const { make, home } = test;
    const organization = home.organization.id;
    const manual = await make.project({ organization, scm_type: '', local_path: '' });
    expect((await create({}, manual, 'superuser').expect(400)).body).toEqual({
      unified_job_template: ['Manual Project cannot have a schedule set.'],
    });
    const fields = { organization, scm_type: 'git', scm_url: 'https://a.example/b' };
    const synced = await make.project(fields);
    const made = await create({}, synced, 'superuser').expect(201);
    expect(made.body.summary_fields.unified_job_template.unified_job_type).toBe('project_update');
    expect(made.body.related.unified_job_template).toBe(`/api/v2/projects/${synced.id}/`);
    const workflow = await make.workflowTemplate({ organization });
    const led = await create({}, workflow, 'superuser').expect(201);
    expect(led.body.summary_fields.unified_job_template.unified_job_type).toBe('workflow_job');
    expect((await create({}, { id: 999_999 }, 'superuser').expect(400)).body).toEqual({
      unified_job_template: ['Invalid pk "999999" - object does not exist.'],
    });
  });

  it('is logged and listed with a constant number of statements', async () => {
    const { body } = await create().expect(201);
    await test.as.orgMember.patch(`schedules/${body.id}/`, { description: 'x' }).expect(200);
    const log = await test.as.orgMember.get(`schedules/${body.id}/activity_stream/`).expect(200);
    expect(log.body.results).toMatchObject([{ operation: 'create' }, { operation: 'update' }]);
    for (let made = 1; made < 5; made += 1) await create().expect(201);
    await samePageQueries(test.database, test.as.orgMember, 'schedules/', [1, 5]);
  });
});

describe('permission on schedules', () => {
  // orgAdmin administers the organization of the template, teamAdmin may launch it.
  beforeAll(async () => {
    const user = test.as.users.teamAdmin;
    await test.make.grant('job_template', template, 'execute_role', { user });
    const reader = { user: test.as.users.teamMember };
    await test.make.grant('job_template', template, 'read_role', reader);
  });

  it.each<[PersonaName, number]>([
    ['superuser', 201],
    ['orgAdmin', 201],
    ['teamAdmin', 201],
    ['teamMember', 403],
    ['auditor', 403],
    ['outsider', 403],
  ])('to create one: %s gets %i', async (persona, status) => {
    await create({}, template, persona).expect(status);
  });

  it('to change and delete it: its author and administrators of the template have it', async () => {
    const own = (await create({}, template, 'teamAdmin').expect(201)).body.id as number;
    const foreign = (await create({}, template, 'orgMember').expect(201)).body.id as number;
    const change = { description: 'new' };
    await test.as.teamAdmin.patch(`schedules/${own}/`, change).expect(200);
    await test.as.teamAdmin.patch(`schedules/${foreign}/`, change).expect(403);
    await test.as.teamAdmin.delete(`schedules/${foreign}/`).expect(403);
    await test.as.teamMember.get(`schedules/${own}/`).expect(200);
    await test.as.outsider.get(`schedules/${own}/`).expect(403);
    await test.as.orgMember.patch(`schedules/${own}/`, change).expect(200);
    await test.as.teamAdmin.delete(`schedules/${own}/`).expect(204);
    await test.as.orgMember.delete(`schedules/${foreign}/`).expect(204);
  });
});

describe('the related objects of a schedule', () => {
  it('are credentials that the launch accepts', async () => {
    const { make, home, as } = test;
    const organization = home.organization.id;
    const credential = await make.credential({ organization });
    const id = (await create().expect(201)).body.id as number;
    const path = `schedules/${id}/credentials/`;
    await as.superuser.post(path, { id: credential.id }).expect(204);
    expect((await as.superuser.get(path).expect(200)).body.results).toMatchObject([
      { id: credential.id },
    ]);
    const second = await make.credential({ organization });
    expect((await as.superuser.post(path, { id: second.id }).expect(400)).body.detail).toMatch(
      /^This launch configuration already provides a .* credential\.$/,
    );
    const closed = await make.jobTemplate();
    const other = (await create({}, closed, 'superuser').expect(201)).body.id as number;
    const refused = await as.superuser
      .post(`schedules/${other}/credentials/`, { id: credential.id })
      .expect(400);
    expect(refused.body.detail).toBe(
      'Related template is not configured to accept credentials on launch.',
    );
    await as.superuser.post(path, { id: credential.id, disassociate: true }).expect(204);
  });

  it('are labels and instance groups', async () => {
    const id = (await create().expect(201)).body.id as number;
    const organization = test.home.organization.id;
    await test.as.orgAdmin
      .post(`schedules/${id}/labels/`, { name: 'nightly', organization })
      .expect(201);
    const group = await test.database.row<Row>(sql`SELECT id FROM instance_groups LIMIT 1`);
    await test.as.superuser.post(`schedules/${id}/instance_groups/`, { id: group!.id }).expect(204);
    for (const list of ['labels', 'instance_groups', 'jobs']) {
      const { body } = await test.as.orgMember.get(`schedules/${id}/${list}/`).expect(200);
      expect(body.count).toBe(list === 'jobs' ? 0 : 1);
    }
  });
});

describe('a template with schedules', () => {
  it('shows its next run and the schedule', async () => {
    const own = await test.make.jobTemplate();
    const shown = async () =>
      (await test.as.superuser.get(`job_templates/${own.id}/`).expect(200)).body;
    expect(await shown()).toMatchObject({ next_job_run: null });
    const late = (await create({}, own, 'superuser').expect(201)).body;
    const early = (await create({ rrule: SOON }, own, 'superuser').expect(201)).body;
    expect(await shown()).toMatchObject({
      next_job_run: '2030-01-01T08:00:00Z',
      related: {
        schedules: `/api/v2/job_templates/${own.id}/schedules/`,
        next_schedule: `/api/v2/schedules/${early.id}/`,
      },
      summary_fields: {
        next_schedule: { id: early.id, name: early.name, next_run: '2030-01-01T08:00:00Z' },
      },
    });
    await test.as.superuser.patch(`schedules/${early.id}/`, { enabled: false }).expect(200);
    expect((await shown()).related.next_schedule).toBe(`/api/v2/schedules/${late.id}/`);
    await test.as.superuser.delete(`schedules/${late.id}/`).expect(204);
    expect(await shown()).toMatchObject({ next_job_run: null });
  });

  it('shows the earlier of two schedules that are created at the same time', async () => {
    const { database, make, as } = test;
    const own = await make.jobTemplate();
    const early = { name: 'Early', rrule: SOON, unified_job_template: own.id };
    await interleave(database, [
      () => make.row('schedule', early),
      async () => create({}, own, 'superuser').expect(201),
      async () => undefined,
    ]);
    const { body } = await as.superuser.get(`job_templates/${own.id}/`).expect(200);
    expect(body.next_job_run).toBe('2030-01-01T08:00:00Z');
  });

  it.each(['job_template', 'project', 'workflow_job_template'])(
    'creates and lists its own schedules: %s',
    async (type) => {
      const { make, home, as } = test;
      const organization = home.organization.id;
      const parents: Record<string, () => Promise<Row>> = {
        job_template: () => make.jobTemplate(),
        project: () =>
          make.project({ organization, scm_type: 'git', scm_url: 'https://a.example/b' }),
        workflow_job_template: () => make.workflowTemplate({ organization }),
      };
      const parent = await parents[type]!();
      const path = `${type}s/${parent.id}/schedules/`;
      const { body } = await as.superuser.post(path, { name: 'Own', rrule: DAILY }).expect(201);
      expect(body.unified_job_template).toBe(parent.id);
      expect((await as.superuser.get(path).expect(200)).body.results).toMatchObject([
        { id: body.id },
      ]);
      await as.outsider.post(path, { name: 'Foreign', rrule: DAILY }).expect(403);
      // A new project is being synced.
      await test.database.execute(sql`UPDATE unified_jobs SET status = 'canceled'`);
      await as.superuser.delete(`${type}s/${parent.id}/`).expect(204);
      await as.superuser.get(`schedules/${body.id}/`).expect(404);
    },
  );
});

describe('the preview of a rule', () => {
  it('shows the next ten occurrences, local and in UTC', async () => {
    const { body } = await test.as.nobody.post('schedules/preview/', { rrule: DAILY }).expect(200);
    expect(body.local).toHaveLength(10);
    expect(body.local[0]).toBe('2030-01-01T09:00:00-05:00');
    expect(body.utc[0]).toBe('2030-01-01T14:00:00Z');
    const few = await test.as.nobody
      .post('schedules/preview/', { rrule: `${DAILY};COUNT=2` })
      .expect(200);
    expect(few.body.local).toHaveLength(2);
  });

  it('reports the errors of the rule', async () => {
    const refused = (body: object) => test.as.nobody.post('schedules/preview/', body).expect(400);
    expect((await refused({})).body).toEqual({ rrule: ['This field is required.'] });
    expect((await refused({ rrule: `${DAILY} RDATE:20300101T000000Z` })).body).toEqual({
      rrule: ['RDATE not allowed in rrule.'],
    });
    await test.as.anonymous.post('schedules/preview/', { rrule: DAILY }).expect(401);
  });

  it('lists the time zones', async () => {
    const { body } = await test.as.nobody.get('schedules/zoneinfo/').expect(200);
    expect(body.zones).toEqual(expect.arrayContaining(['America/New_York', 'UTC']));
  });
});
