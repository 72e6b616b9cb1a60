/** Cleanups as templates and runs (docs/contract/system-jobs.md). */
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const NAMES = {
  cleanup_jobs: 'Cleanup Job Details',
  cleanup_activitystream: 'Cleanup Activity Stream',
  cleanup_sessions: 'Cleanup Expired Sessions',
  cleanup_tokens: 'Cleanup Expired OAuth 2 Tokens',
  cleanup_notifications: 'Cleanup Notifications',
  cleanup_webhook_deliveries: 'Cleanup Webhook Deliveries',
};
type Kind = keyof typeof NAMES;

async function templateUrl(kind: Kind): Promise<string> {
  const { body } = await test.as.superuser.get(`system_job_templates/?job_type=${kind}`);
  return String(body.results[0].url);
}

const launch = async (kind: Kind, extra_vars: unknown, client: ApiClient = test.as.superuser) =>
  client.post(`${await templateUrl(kind)}launch/`, { extra_vars });

describe('templates', () => {
  it('exist after the migration, one of each kind', async () => {
    const { body } = await test.as.superuser.get('system_job_templates/?order_by=id').expect(200);
    expect(body.count).toBe(Object.keys(NAMES).length);
    for (const row of body.results as Record<string, unknown>[]) {
      expect(row.name).toBe(NAMES[row.job_type as Kind]);
      expect(row).toMatchObject({ type: 'system_job_template', execution_environment: null });
      expect(row.related).toMatchObject({
        jobs: `${String(row.url)}jobs/`,
        schedules: `${String(row.url)}schedules/`,
        launch: `${String(row.url)}launch/`,
        notification_templates_error: `${String(row.url)}notification_templates_error/`,
      });
    }
  });

  it('are readable by superusers and auditors only', async () => {
    const { as } = test;
    const url = await templateUrl('cleanup_jobs');
    for (const list of ['system_job_templates/', 'system_jobs/']) {
      await as.auditor.get(list).expect(200);
      for (const client of [as.orgAdmin, as.nobody]) {
        const { body } = await client.get(list).expect(403);
        expect(body).toEqual({ detail: 'Superuser privileges needed.' });
      }
      await as.anonymous.get(list).expect(401);
    }
    await as.auditor.get(url).expect(200);
    await as.orgAdmin.get(url).expect(403);
    await as.superuser.post('system_job_templates/', { name: 'x' }).expect(405);
    await as.superuser.patch(url, { name: 'x' }).expect(405);
    await as.superuser.delete(url).expect(405);
  });

  it('are in the list of all templates, for users who may read them', async () => {
    const query = 'unified_job_templates/?type=system_job_template';
    expect((await test.as.auditor.get(query).expect(200)).body.count).toBe(6);
    expect((await test.as.orgAdmin.get(query).expect(200)).body.count).toBe(0);
  });

  it('accept notification templates from superusers', async () => {
    const url = await templateUrl('cleanup_tokens');
    const template = await test.make.notificationTemplate();
    for (const event of ['started', 'success', 'error']) {
      const list = `${url}notification_templates_${event}/`;
      await test.as.superuser.post(list, { id: template.id }).expect(204);
      expect((await test.as.auditor.get(list).expect(200)).body.count).toBe(1);
    }
  });
});

describe('a launch', () => {
  it('creates a pending run with the variables of the launch', async () => {
    const { superuser, users } = { ...test.as };
    const entries = async (): Promise<number> =>
      (await superuser.get('activity_stream/?object1=system_job').expect(200)).body.count;
    const before = await entries();
    const { status, body } = await launch('cleanup_jobs', { days: 30, dry_run: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ system_job: body.id, type: 'system_job', name: NAMES.cleanup_jobs, status: 'pending' },
      ...{ job_type: 'cleanup_jobs', extra_vars: '{"days": 30, "dry_run": true}' },
      ...{ launch_type: 'manual', system_job_template: body.unified_job_template },
      launched_by: { id: users.superuser.id, type: 'user' },
      summary_fields: {
        unified_job_template: { name: NAMES.cleanup_jobs, unified_job_type: 'system_job' },
        user_capabilities: { delete: true, start: false },
      },
      related: {
        system_job_template: await templateUrl('cleanup_jobs'),
        events: `${String(body.url)}events/`,
        cancel: `${String(body.url)}cancel/`,
        notifications: `${String(body.url)}notifications/`,
      },
    });
    const jobs = await superuser
      .get(`${await templateUrl('cleanup_jobs')}jobs/?order_by=-id`)
      .expect(200);
    expect(jobs.body.results[0].id).toBe(body.id);
    const all = await superuser.get('unified_jobs/?type=system_job&order_by=-id').expect(200);
    expect(all.body.results[0]).toMatchObject({ id: body.id, type: 'system_job' });
    expect(await entries()).toBe(before + 1);
  });

  it.each<[Kind, unknown, string[]]>([
    [
      'cleanup_jobs',
      { days: -3, older_than: 3 },
      ['Variables older_than are not allowed for system jobs.', 'days must be a positive integer.'],
    ],
    ['cleanup_jobs', { days: -1 }, ['days must be a positive integer.']],
    ['cleanup_jobs', { days: true }, ['days must be a positive integer.']],
    ['cleanup_tokens', { days: 1.5 }, ['days must be a positive integer.']],
    ['cleanup_activitystream', { days: 'x' }, ['days must be a positive integer.']],
    ['cleanup_sessions', { days: 1e9 }, ['days must be a positive integer.']],
    ['cleanup_sessions', { dry_run: 'maybe' }, ['dry_run must be true or false.']],
  ])('refuses %s with %j', async (kind, variables, extra_vars) => {
    const { status, body } = await launch(kind, variables);
    expect([status, body]).toEqual([400, { extra_vars }]);
  });

  it('accepts variables as text, days as digits, and no variables', async () => {
    const url = `${await templateUrl('cleanup_tokens')}launch/`;
    const given = await test.as.superuser.post(url, { extra_vars: 'days: "120"' }).expect(201);
    expect(given.body.extra_vars).toBe('{"days": "120"}');
    expect((await test.as.superuser.post(url, {}).expect(201)).body.extra_vars).toBe('{}');
  });

  it('is permitted to superusers only', async () => {
    for (const client of [test.as.auditor, test.as.orgAdmin, test.as.nobody]) {
      expect((await launch('cleanup_jobs', {}, client)).status).toBe(403);
    }
  });
});

it('superusers read, cancel and delete runs; auditors read them', async () => {
  const { superuser, auditor, orgAdmin } = test.as;
  const { url } = (await launch('cleanup_sessions', {})).body;
  for (const path of ['', 'events/', 'notifications/', 'stdout/?format=txt', 'cancel/']) {
    await auditor.get(`${String(url)}${path}`).expect(200);
    await orgAdmin.get(`${String(url)}${path}`).expect(403);
  }
  await auditor.post(`${String(url)}cancel/`, {}).expect(403);
  await superuser.delete(url).expect(403);
  await superuser.post(`${String(url)}cancel/`, {}).expect(202);
  expect((await superuser.get(url).expect(200)).body.status).toBe('canceled');
  await superuser.delete(url).expect(204);
});

describe('schedules', () => {
  const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=WEEKLY;INTERVAL=1';

  it.each<[Kind, string, string]>([
    ['cleanup_jobs', 'Cleanup Job Schedule', '120'],
    ['cleanup_activitystream', 'Cleanup Activity Schedule', '355'],
  ])('of %s exist after the migration, weekly', async (kind, name, days) => {
    const url = await templateUrl(kind);
    const { body } = await test.as.superuser.get(`${url}schedules/`).expect(200);
    expect(body.results).toMatchObject([
      { name, enabled: true, extra_data: { days }, timezone: 'UTC' },
    ]);
    const [{ id, next_run: nextRun, rrule: rule }] = body.results;
    expect(rule).toMatch(/^DTSTART:\d{8}T\d{6}Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=\w\w$/);
    const inDays = (Date.parse(nextRun) - Date.now()) / 86_400_000;
    expect(inDays).toBeGreaterThan(0);
    expect(inDays).toBeLessThanOrEqual(7);
    const { body: template } = await test.as.superuser.get(url).expect(200);
    expect(template).toMatchObject({ next_job_run: nextRun });
    expect(template.related.next_schedule).toBe(`/api/v2/schedules/${id}/`);
    const { body: preview } = await test.as.superuser
      .post('schedules/preview/', { rrule: rule })
      .expect(200);
    expect(preview.utc).toContain(nextRun.replace(/\.0+Z$/, 'Z'));
  });

  it('are created and visible to superusers, and refused like launches', async () => {
    const list = `${await templateUrl('cleanup_tokens')}schedules/`;
    const { superuser, auditor, orgAdmin } = test.as;
    const make = (extra_data: object) =>
      superuser.post(list, { name: `Nightly ${Math.random()}`, rrule, extra_data });
    const made = await make({ days: 3, dry_run: true }).expect(201);
    expect(made.body.summary_fields.unified_job_template.unified_job_type).toBe('system_job');
    for (const extra_data of [{ days: -1 }, { other: 1 }]) {
      const text =
        'other' in extra_data
          ? 'Variables other are not allowed for system jobs.'
          : 'days must be a positive integer.';
      expect((await make(extra_data).expect(400)).body).toEqual({ extra_data: [text] });
    }
    const changed = await superuser.patch(made.body.url, { extra_data: { days: 'x' } }).expect(400);
    expect(changed.body).toEqual({ extra_data: ['days must be a positive integer.'] });
    await auditor.get(made.body.url).expect(200);
    await orgAdmin.get(made.body.url).expect(403);
    const unified_job_template = Number(/\d+/.exec(list.slice(8))?.[0]);
    for (const client of [auditor, orgAdmin]) {
      const { status } = await client.post('schedules/', {
        name: 'x',
        rrule,
        unified_job_template,
      });
      expect([400, 403]).toContain(status);
    }
  });

  it('workflow nodes launch system jobs if a superuser created the node', async () => {
    const { superuser, orgAdmin } = test.as;
    const { id: organization } = test.home.organization;
    const workflow = await test.make.workflowTemplate({ organization });
    const nodes = `workflow_job_templates/${workflow.id}/workflow_nodes/`;
    const unified_job_template = Number(/(\d+)\/$/.exec(await templateUrl('cleanup_tokens'))?.[1]);
    await superuser.post(nodes, { unified_job_template, extra_data: { days: 2 } }).expect(201);
    const refused = await superuser
      .post(nodes, { unified_job_template, extra_data: { x: 2 } })
      .expect(400);
    expect(refused.body).toEqual({ extra_data: ['Variables x are not allowed for system jobs.'] });
    expect([400, 403]).toContain((await orgAdmin.post(nodes, { unified_job_template })).status);
  });
});

it('pages show a template with its schedules and a run with its output', async () => {
  const page = test.as.superuser.with({ Accept: 'text/html' });
  const template = await page.get(await templateUrl('cleanup_jobs')).expect(200);
  expect(template.text).toContain('Cleanup Job Schedule');
  const { url } = (await launch('cleanup_jobs', {})).body;
  const run = await page.get(String(url)).expect(200);
  expect(run.text).toContain('id="run-actions"');
  await page.get(`${await templateUrl('cleanup_jobs')}launch/`).expect(200);
});

it.each(['organizations', 'job_templates', 'workflow_job_templates'])(
  'the retention of runs is set on %s',
  async (path) => {
    const { id } = await {
      organizations: () => test.make.organization(),
      job_templates: () => test.make.jobTemplate(),
      workflow_job_templates: () => test.make.workflowTemplate(),
    }[path]!();
    const url = `${path}/${id}/`;
    const inherited = await test.as.superuser.get(url).expect(200);
    expect(inherited.body).toMatchObject({ retention_days: null, retention_runs: null });
    const own = { retention_days: 30, retention_runs: 100 };
    expect((await test.as.superuser.patch(url, own).expect(200)).body).toMatchObject(own);
    const none = { retention_days: 0, retention_runs: 0 };
    expect(Object.keys((await test.as.superuser.patch(url, none).expect(400)).body)).toEqual(
      Object.keys(none),
    );
    await test.as.superuser.patch(url, { retention_days: null }).expect(200);
  },
);

describe.each(['job_templates', 'workflow_job_templates'])('the retention of %s', (path) => {
  it('can be changed by organization admins, who may delete its runs', async () => {
    const { make, as, home } = test;
    const isJob = path === 'job_templates';
    const owned = { organization: home.organization.id };
    const template = await (isJob
      ? make.jobTemplate({ project: (await make.project(owned)).id })
      : make.workflowTemplate(owned));
    const type = isJob ? 'job_template' : 'workflow_job_template';
    await make.grant(type, template, 'admin_role', { team: home.team });
    const [url, user] = [`${path}/${template.id}/`, as.teamMember];
    await user.patch(url, { description: 'mine', retention_days: null }).expect(200);
    await user.patch(url, { retention_days: 1 }).expect(403);
    await user.patch(url, { retention_runs: 1 }).expect(403);
    await as.orgAdmin.patch(url, { retention_days: 30 }).expect(200);
    await user.patch(url, { retention_days: null }).expect(403);
  });
});

it.each(['job_templates', 'workflow_job_templates'])(
  'copies of %s keep the retention',
  async (path) => {
    const { make, as, home } = test;
    const owned = { organization: home.organization.id };
    const user = { user: as.users.teamMember };
    const own = { retention_days: 30, retention_runs: 9 };
    const template = await {
      async job_templates() {
        const [project, inventory] = [await make.project(owned), await make.inventory(owned)];
        await make.grant('project', project, 'use_role', user);
        await make.grant('inventory', inventory, 'use_role', user);
        const made = await make.jobTemplate({
          project: project.id,
          inventory: inventory.id,
          ...own,
        });
        await make.grant('job_template', made, 'admin_role', user);
        return made;
      },
      async workflow_job_templates() {
        const made = await make.workflowTemplate({ ...owned, ...own });
        await make.grant('organization', home.organization, 'workflow_admin_role', user);
        return made;
      },
    }[path]!();
    const url = `${path}/${template.id}/copy/`;
    expect((await as.teamMember.get(url).expect(200)).body).toMatchObject({ can_copy: true });
    const { body } = await as.teamMember.post(url, { name: `Copy of ${path}` }).expect(201);
    expect(body).toMatchObject({ retention_days: null, retention_runs: null });
  },
);
