/** Images that runs are to happen in (docs/contract/resources.md#execution-environments). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const path = 'execution_environments/';
const image = 'quay.io/ansible/awx-ee:latest';

it('are made, found, changed, copied and deleted', async () => {
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
])('are refused as %j', async (body, faults) => {
  expect((await test.as.superuser.post(path, body).expect(400)).body).toEqual(faults);
});

it('are pulled with credentials of registries', async () => {
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

it('belong to an organization for good, or to all', async () => {
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

it('are made by superusers, and in organizations by those who may', async () => {
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

  it('is one that its author may read, and shown with it and its jobs', async () => {
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
    const { body: found } = await as.orgAdmin.get(`jobs/?execution_environment__name=ours`);
    expect(found.results.map(({ id }: Row) => id)).toEqual([job.id]);
  });

  it('is prompted for where the template asks, among those the caller may read', async () => {
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

  it('is saved in schedules and nodes where the template asks', async () => {
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

  it('stays that of a job that was launched, and of its relaunch, until it is deleted', async () => {
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

it('of a command stays that of its relaunch', async () => {
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
