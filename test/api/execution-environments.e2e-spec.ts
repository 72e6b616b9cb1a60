/** Images of runs (docs/contract/resources.md#execution-environments). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const path = 'execution_environments/';
const image = 'quay.io/ansible/awx-ee:latest';

it('execution environments are created, found, changed, copied and deleted', async () => {
  const { superuser } = test.as;
  const { id: organization } = await test.make.organization();
  const made = await superuser
    .post(path, { name: 'EE', image, organization, pull: 'always' })
    .expect(201);
  const { id, url } = made.body;
  expect(made.body).toMatchObject({
    ...{ type: 'execution_environment', image, organization, pull: 'always' },
    ...{ credential: null, managed: false, description: '' },
    summary_fields: {
      organization: { id: organization },
      user_capabilities: { edit: true, delete: true, copy: true },
    },
  });
  const again = await superuser.post(path, { name: 'EE', image }).expect(400);
  expect(again.body).toEqual({ name: ['Execution environment with this Name already exists.'] });
  const found = await superuser.get(`${path}?name=EE`).expect(200);
  expect(found.body.results.map((one: { id: number }) => one.id)).toEqual([id]);
  const changed = await superuser
    .patch(url, { name: 'Renamed', image: 'localhost/ee', pull: 'missing' })
    .expect(200);
  expect(changed.body).toMatchObject({ name: 'Renamed', image: 'localhost/ee', pull: 'missing' });
  const copy = await superuser.post(`${url}copy/`, { name: 'Copy' }).expect(201);
  expect(copy.body).toMatchObject({ image: 'localhost/ee', organization });
  const below = await superuser
    .get(`organizations/${organization}/execution_environments/`)
    .expect(200);
  expect(below.body.results.map((one: { name: string }) => one.name)).toEqual(['Copy', 'Renamed']);
  await superuser.delete(url).expect(204);
  await superuser.get(url).expect(404);
});

it.each<[object, object]>([
  [{}, { name: ['This field is required.'], image: ['This field is required.'] }],
  [
    { name: 'x', image: 'Not an image' },
    { image: ['Not an image reference: [domain[:port]/]path[:tag][@sha256:…].'] },
  ],
  [{ name: 'x', image, pull: 'sometimes' }, { pull: ['"sometimes" is not a valid choice.'] }],
  [
    { name: 'x', image, organization: 99_999 },
    { organization: ['Invalid pk "99999" - object does not exist.'] },
  ],
])('an execution environment is refused as %j', async (body, faults) => {
  expect((await test.as.superuser.post(path, body).expect(400)).body).toEqual(faults);
});

it('images are pulled with registry credentials', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const registry = await make.credential({ organization, namespace: 'registry' });
  const machine = await make.credential({ organization });
  const body = { name: 'Pulled', image, organization };
  const { url } = (await as.orgAdmin.post(path, { ...body, credential: registry.id }).expect(201))
    .body;
  const other = await as.orgAdmin.patch(url, { credential: machine.id }).expect(400);
  expect(other.body).toEqual({
    credential: [
      'Only Container Registry credentials can be associated with an Execution Environment',
    ],
  });
});

it('an execution environment keeps its organization, or stays global', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const { url } = (await as.orgAdmin.post(path, { name: 'Ours', image, organization }).expect(201))
    .body;
  const other = (await make.organization()).id;
  const moved = await as.superuser.patch(url, { organization: other }).expect(400);
  expect(moved.body).toEqual({
    organization: ['Cannot change the organization of an execution environment'],
  });
  await as.outsider.get(url).expect(403);
  await as.orgAdmin.patch(url, { organization: null }).expect(403);
  await as.superuser.patch(url, { organization: null }).expect(200);
  await as.outsider.get(url).expect(200);
  await as.orgAdmin.patch(url, { image: 'x' }).expect(403);
});

it('execution environments are created by superusers, and in organizations by their admins', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const user = await make.user();
  const client = await as.asUser(user);
  const body = { name: 'Theirs', image, organization };
  await client.post(path, body).expect(403);
  const field = 'execution_environment_admin_role';
  await make.grant('organization', home.organization, field, { user });
  const { url } = (await client.post(path, body).expect(201)).body;
  await client.post(path, { name: 'For all', image }).expect(403);
  await as.orgMember.get(url).expect(200);
  await as.orgMember.patch(url, { image: 'x' }).expect(403);
  await as.nobody.get(url).expect(403);
  await client.delete(url).expect(204);
});

describe('of a job template', () => {
  let ours: Row;
  let theirs: Row;
  let template: Row;

  beforeAll(async () => {
    const { make, home } = test;
    const environment = (name: string, organization: number): Promise<Row> =>
      make.row('execution_environment', { name, image: `quay.io/${name}/ee:1`, organization });
    ours = await environment('ours', home.organization.id);
    theirs = await environment('theirs', home.otherOrganization.id);
  });
  beforeEach(async () => {
    const { make, home } = test;
    const project = await make.project({ organization: home.organization.id });
    const inventory = await make.inventory({ organization: home.organization.id });
    template = await make.jobTemplate({
      ...{ project: project.id, inventory: inventory.id, execution_environment: ours.id },
    });
  });

  const launch = async (client: TestApp['as']['superuser'], fields: object = {}, status = 201) =>
    (await client.post(`job_templates/${template.id}/launch/`, fields).expect(status)).body;
  const changed = (fields: object) =>
    test.as.superuser.patch(`job_templates/${template.id}/`, fields).expect(200);

  it('must be readable by its author, and is shown with it and its jobs', async () => {
    const { as } = test;
    const url = `job_templates/${template.id}/`;
    await as.orgAdmin.patch(url, { execution_environment: theirs.id }).expect(403);
    const unknown = await as.orgAdmin.patch(url, { execution_environment: 99_999 }).expect(400);
    expect(unknown.body).toEqual({
      execution_environment: ['Invalid pk "99999" - object does not exist.'],
    });
    const { body: shown } = await as.orgAdmin
      .patch(url, { execution_environment: ours.id })
      .expect(200);
    const job = await launch(as.orgAdmin);
    for (const one of [shown, job]) {
      expect(one).toMatchObject({
        execution_environment: ours.id,
        related: { execution_environment: `/api/v2/execution_environments/${ours.id}/` },
        summary_fields: { execution_environment: { id: ours.id, image: 'quay.io/ours/ee:1' } },
      });
    }
    expect(job.environment).toEqual({ name: 'ours', image: 'quay.io/ours/ee:1', pull: '' });
    const { body: needs } = await as.orgAdmin.get(`${url}launch/`).expect(200);
    expect(needs.defaults.execution_environment).toEqual({ id: ours.id, name: 'ours' });
    const { body: found } = await as.orgAdmin.get(
      `job_templates/${template.id}/jobs/?execution_environment__name=ours`,
    );
    expect(found.results.map(({ id }: Row) => id)).toEqual([job.id]);
  });

  it('is accepted at launch if the template prompts for it and the caller may read it', async () => {
    const { as } = test;
    const sent = { execution_environment: theirs.id };
    expect((await launch(as.superuser, sent)).ignored_fields).toEqual(sent);
    await changed({ ask_execution_environment_on_launch: true });
    await launch(as.orgAdmin, sent, 403);
    expect(await launch(as.orgAdmin, { execution_environment: 99_999 }, 400)).toEqual({
      execution_environment: ['Invalid pk "99999" - object does not exist.'],
    });
    expect(await launch(as.superuser, sent)).toMatchObject({
      execution_environment: theirs.id,
      environment: { name: 'theirs' },
    });
    const jobs = [{ unified_job_template: template.id, ...sent }];
    const refused = await as.orgAdmin.post('bulk/job_launch/', { name: 'x', jobs }).expect(400);
    expect(refused.body.__all__[0]).toMatch(/^Execution Environments \{\d+\} not found/);
    const { body: bulk } = await as.superuser
      .post('bulk/job_launch/', { name: 'x', jobs })
      .expect(201);
    const nodes = await as.superuser.get(bulk.related.workflow_nodes).expect(200);
    expect(nodes.body.results).toEqual([expect.objectContaining(sent)]);
  });

  it('is saved in schedules and nodes if the template prompts for it', async () => {
    const { as, make, home } = test;
    await changed({ ask_execution_environment_on_launch: true });
    const workflow = await make.workflowTemplate({ organization: home.organization.id });
    const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1';
    const lists: [string, object][] = [
      ['schedules/', { name: 'Daily', rrule }],
      ['workflow_job_template_nodes/', { workflow_job_template: workflow.id }],
    ];
    for (const [list, fields] of lists) {
      const body = { ...fields, unified_job_template: template.id };
      await as.orgAdmin.post(list, { ...body, execution_environment: theirs.id }).expect(403);
      const { body: saved } = await as.orgAdmin
        .post(list, { ...body, execution_environment: ours.id })
        .expect(201);
      expect(saved).toMatchObject({
        execution_environment: ours.id,
        summary_fields: { execution_environment: { name: 'ours', image: 'quay.io/ours/ee:1' } },
      });
    }
  });

  it('stays the same for a launched job and its relaunch until it is deleted', async () => {
    const { as, make } = test;
    const made = await make.row('execution_environment', { name: 'Old', image: 'quay.io/old/ee' });
    await changed({ execution_environment: made.id, ask_execution_environment_on_launch: false });
    const first = await launch(as.superuser);
    const url = `execution_environments/${made.id}/`;
    await as.superuser.patch(url, { name: 'New', image: 'quay.io/new/ee', pull: 'never' });
    await changed({ execution_environment: ours.id });
    const relaunched = async (job: Row): Promise<Row> =>
      (await as.superuser.post(`jobs/${job.id}/relaunch/`, {}).expect(201)).body;
    const again = await relaunched(first);
    for (const { id } of [first, again, await relaunched(again)]) {
      const { body: job } = await as.superuser.get(`jobs/${id}/`).expect(200);
      expect(job).toMatchObject({
        execution_environment: made.id,
        environment: { name: 'Old', image: 'quay.io/old/ee', pull: '' },
      });
    }
    await as.superuser.delete(url).expect(204);
    expect(await relaunched(first)).toMatchObject({ environment: { name: 'ours' } });
  });
});

it('the execution environment of a command stays the same for its relaunch', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const environment = await make.row('execution_environment', { name: 'Tools', image: 'tools' });
  const inventory = await make.inventory({ organization });
  const credential = await make.credential({ organization });
  const { body: command } = await as.superuser
    .post('ad_hoc_commands/', {
      ...{ inventory: inventory.id, credential: credential.id, module_name: 'ping' },
      execution_environment: environment.id,
    })
    .expect(201);
  const url = `execution_environments/${environment.id}/`;
  await as.superuser.patch(url, { image: 'other' }).expect(200);
  const { body: again } = await as.superuser
    .post(`ad_hoc_commands/${command.id}/relaunch/`, {})
    .expect(201);
  expect(again).toMatchObject({
    execution_environment: environment.id,
    environment: { name: 'Tools', image: 'tools' },
  });
});

describe('default execution environments', () => {
  const environment = (name: string, organization: number | null = null): Promise<Row> =>
    test.make.row('execution_environment', { name, image: `quay.io/${name}/ee`, organization });
  const setting = (value: number | string | null) =>
    test.as.superuser.patch('settings/system/', { DEFAULT_EXECUTION_ENVIRONMENT: value });

  it('come from project, its organization, that of the inventory, and the setting', async () => {
    const { as, make } = test;
    const [organization, other] = [await make.organization(), await make.organization()];
    const project = await make.project({ organization: organization.id });
    const inventory = await make.inventory({ organization: other.id });
    const template = await make.jobTemplate({ project: project.id, inventory: inventory.id });
    const names = ['setting', 'inventory', 'organization', 'project', 'template'];
    const ids = new Map<string, number>();
    for (const name of names) ids.set(name, (await environment(`of-${name}`)).id);
    const patch = (url: string, fields: object) => as.superuser.patch(url, fields).expect(200);
    const set: Record<string, () => PromiseLike<unknown>> = {
      setting: () => setting(ids.get('setting') ?? 0).expect(200),
      inventory: () =>
        patch(`organizations/${other.id}/`, { default_environment: ids.get('inventory') }),
      organization: () =>
        patch(`organizations/${organization.id}/`, {
          default_environment: ids.get('organization'),
        }),
      project: () => patch(`projects/${project.id}/`, { default_environment: ids.get('project') }),
      template: () =>
        patch(`job_templates/${template.id}/`, { execution_environment: ids.get('template') }),
    };
    const used = async (): Promise<unknown> => {
      const { body } = await as.superuser.post(`job_templates/${template.id}/launch/`, {});
      expect(body.execution_environment).toBe(ids.get(body.environment?.name.slice(3)) ?? null);
      const { body: shown } = await as.superuser.get(`job_templates/${template.id}/`).expect(200);
      expect(shown.summary_fields.resolved_environment?.name).toBe(body.environment?.name);
      return body.environment?.name ?? null;
    };
    expect(await used()).toBeNull();
    for (const name of names) {
      await set[name]?.();
      expect(await used()).toBe(`of-${name}`);
    }
    await as.superuser.delete(`execution_environments/${ids.get('project')}/`).expect(204);
    await patch(`job_templates/${template.id}/`, { execution_environment: null });
    expect(await used()).toBe('of-organization');
    await as.superuser.delete(`execution_environments/${ids.get('setting')}/`).expect(409);
    await setting(null).expect(200);
  });

  it('apply to commands and inventory updates, and not to project updates', async () => {
    const { as, make } = test;
    const organization = await make.organization();
    const { id } = await environment('all', organization.id);
    await as.superuser.patch(`organizations/${organization.id}/`, { default_environment: id });
    const inventory = await make.inventory({ organization: organization.id });
    const credential = await make.credential({ organization: organization.id });
    const project = await make.project({
      ...{ organization: organization.id, scm_type: 'git', scm_url: 'https://git.example.com/a' },
    });
    const source = await make.row('inventory_source', {
      ...{ name: 'Source', inventory: inventory.id, source: 'scm', source_project: project.id },
    });
    const post = async (url: string, body: object) =>
      (await as.superuser.post(url, body).expect((r) => expect([201, 202]).toContain(r.status)))
        .body;
    const command = { inventory: inventory.id, credential: credential.id, module_name: 'ping' };
    for (const run of [
      await post('ad_hoc_commands/', command),
      await post(`inventory_sources/${source.id}/update/`, {}),
    ]) {
      expect(run).toMatchObject({ execution_environment: id, environment: { name: 'all' } });
    }
    const update = await post(`projects/${project.id}/update/`, {});
    expect(update.environment).toBeNull();
  });

  it('are shown to users who may read them', async () => {
    const { as, make, home } = test;
    const ours = await environment('near', home.organization.id);
    const theirs = await environment('far', home.otherOrganization.id);
    const project = await make.project({ organization: home.organization.id });
    const urls = [`organizations/${home.organization.id}/`, `projects/${project.id}/`];
    for (const url of urls) {
      await as.orgAdmin.patch(url, { default_environment: theirs.id }).expect(403);
      const { body } = await as.orgAdmin.patch(url, { default_environment: ours.id }).expect(200);
      expect(body).toMatchObject({
        default_environment: ours.id,
        related: { default_environment: `/api/v2/execution_environments/${ours.id}/` },
        summary_fields: { default_environment: { name: 'near', image: 'quay.io/near/ee' } },
      });
      const list = url.replace(/\d+\/$/, `?default_environment__name=near`);
      expect((await as.orgAdmin.get(list).expect(200)).body.count).toBe(1);
    }
    const inventory = await make.inventory({ organization: home.organization.id });
    const template = await make.jobTemplate({ project: project.id, inventory: inventory.id });
    await as.superuser.patch(String(urls[1]), { default_environment: theirs.id }).expect(200);
    const shown = { id: theirs.id, name: 'far' };
    const { body: hidden } = await as.orgAdmin.get(`job_templates/${template.id}/`).expect(200);
    expect(hidden.summary_fields.resolved_environment).toEqual(shown);
    const { body: open } = await as.superuser.get(`job_templates/${template.id}/`).expect(200);
    expect(open.summary_fields.resolved_environment).toMatchObject({ image: 'quay.io/far/ee' });
    const foreign = {
      default_environment: ['The execution environment does not belong to this organization.'],
    };
    const sent = { default_environment: theirs.id };
    const patched = await as.superuser.patch(String(urls[0]), sent).expect(400);
    expect(patched.body).toEqual(foreign);
    const posted = await as.superuser.post('organizations/', { name: 'New', ...sent }).expect(400);
    expect(posted.body).toEqual(foreign);
    await as.superuser.patch(String(urls[1]), sent).expect(200);
  });

  it.each([
    [99_999, 'Invalid pk "99999" - object does not exist.'],
    [-1, 'Ensure this value is greater than or equal to 0.'],
    ['x', 'A valid integer is required.'],
  ])('are not set from the invalid setting %j', async (value, fault) => {
    const { body } = await setting(value).expect(400);
    expect(body).toEqual({ DEFAULT_EXECUTION_ENVIRONMENT: [fault] });
  });
});

it('forms of templates, launches, projects and organizations offer them', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const { id } = await make.row('execution_environment', { name: 'Chosen', image: 'chosen' });
  const project = await make.project({ organization, default_environment: id });
  const inventory = await make.inventory({ organization });
  const template = await make.jobTemplate({
    ...{ project: project.id, inventory: inventory.id, execution_environment: id },
    ask_execution_environment_on_launch: true,
  });
  const url = `job_templates/${template.id}/`;
  for (const [path, field] of [
    [`${url}?_form=patch`, 'execution_environment'],
    [`${url}launch/`, 'execution_environment'],
    [`projects/${project.id}/?_form=patch`, 'default_environment'],
    [`organizations/${organization}/?_form=patch`, 'default_environment'],
  ] as const) {
    const { text } = await as.superuser.get(path).set('Accept', 'text/html').expect(200);
    const control = new RegExp(`<select[^>]* name="${field}".*?</select>`, 's').exec(text)?.[0];
    expect(control).toContain('Chosen');
  }
});
