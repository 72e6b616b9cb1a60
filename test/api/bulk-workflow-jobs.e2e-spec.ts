import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { bulkLaunches, type BulkLaunches } from '../support/bulk-launches.js';
import type { PersonaName } from '../support/personas.js';

let test: TestApp;
let { template, launch, node, nodesOf } = {} as BulkLaunches;
beforeAll(async () => {
  test = await boot();
  ({ template, launch, node, nodesOf } = await bulkLaunches(test));
});
afterAll(() => test.close());

describe('the organization', () => {
  it('is that of the caller, or the one in the request, or none for a superuser', async () => {
    const { as, home, make } = test;
    const jobs = [node()];
    const send = (persona: PersonaName, organization?: number) =>
      as[persona].post('bulk/job_launch/', { name: 'x', jobs, organization });
    expect((await send('superuser').expect(201)).body.organization).toBeNull();
    expect((await send('superuser', home.otherOrganization.id).expect(201)).body.organization).toBe(
      home.otherOrganization.id,
    );
    expect((await send('orgAdmin').expect(201)).body.organization).toBe(home.organization.id);
    const unknown = ["Organization 999999 not found or you don't have permissions to access it"];
    expect((await send('orgMember', 999_999).expect(400)).body).toEqual({
      organization: ['Invalid pk "999999" - object does not exist.'],
      __all__: unknown,
    });
    await send('orgMember', home.otherOrganization.id).expect(400);

    const user = await make.user();
    await make.grant('job_template', template, 'execute_role', { user });
    const client = await as.asUser(user);
    const body = { name: 'x', jobs };
    expect((await client.post('bulk/job_launch/', body).expect(400)).body).toEqual({
      __all__: [
        'User not part of any organization, please assign an organization to assign to the bulk job',
      ],
    });
    for (const organization of [home.organization, home.otherOrganization]) {
      await make.grant('organization', organization, 'member_role', { user });
    }
    expect((await client.post('bulk/job_launch/', body).expect(400)).body).toEqual({
      __all__: [
        'User has permission to multiple Organizations, please set one of them in the request',
      ],
    });
    const chosen = { ...body, organization: home.otherOrganization.id };
    expect((await client.post('bulk/job_launch/', chosen).expect(201)).body.organization).toBe(
      home.otherOrganization.id,
    );
  });
});

describe('the workflow job', () => {
  let id: number;
  beforeAll(async () => {
    id = (await launch([node()]).expect(201)).body.id as number;
    const user = test.as.users.teamAdmin;
    await test.make.grant('organization', test.home.organization, 'auditor_role', { user });
  });

  // orgMember launched it; teamAdmin audits the organization.
  it.each<[PersonaName, boolean, number]>([
    ['superuser', true, 200],
    ['auditor', true, 200],
    ['orgAdmin', true, 200],
    ['orgMember', false, 200],
    ['teamAdmin', false, 403],
    ['teamMember', false, 403],
    ['outsider', false, 403],
  ])('appears for %s in lists: %s, and by URL with %i', async (persona, isListed, status) => {
    const client = test.as[persona];
    for (const path of ['workflow_jobs', 'unified_jobs']) {
      const { body } = await client.get(`${path}/?id=${id}`).expect(200);
      expect(body.count).toBe(isListed ? 1 : 0);
    }
    await client.get(`workflow_jobs/${id}/`).expect(status);
    await client.get(`workflow_jobs/${id}/workflow_nodes/`).expect(status);
    const { body } = await client.get(`workflow_job_nodes/?workflow_job=${id}`);
    expect(body.count).toBe(isListed ? 1 : 0);
  });

  // teamAdmin audits the organization; the outsider administers none of it.
  it.each<[PersonaName, number]>([
    ['superuser', 202],
    ['orgAdmin', 202],
    ['orgMember', 202],
    ['auditor', 403],
    ['teamAdmin', 403],
    ['teamMember', 403],
    ['outsider', 403],
  ])(
    'can be canceled by its launcher and by administrators: %s gets %i',
    async (persona, status) => {
      const made = (await launch([node()]).expect(201)).body.id as number;
      const url = `workflow_jobs/${made}/`;
      const page = await test.as[persona].get(url).set('Accept', 'text/html');
      expect(page.text.includes(`action="/api/v2/${url}cancel/"`)).toBe(status === 202);
      await test.as[persona].post(`${url}cancel/`, {}).expect(status);
      const { body } = await test.as.superuser.get(url).expect(200);
      expect(body.status).toBe(status === 202 ? 'canceled' : 'pending');
    },
  );

  it('cannot be canceled by administrators of another organization, or by its own without one', async () => {
    const foreign = await test.make.organization();
    const { body: elsewhere } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'Bulk', jobs: [node()], organization: foreign.id })
      .expect(201);
    const { body: nowhere } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'Bulk', jobs: [node()] })
      .expect(201);
    for (const { id: made } of [elsewhere, nowhere]) {
      await test.as.orgAdmin.post(`workflow_jobs/${made}/cancel/`, {}).expect(403);
      await test.as.superuser.post(`workflow_jobs/${made}/cancel/`, {}).expect(202);
    }
  });

  it('can be deleted by superusers only', async () => {
    const made = (await launch([node()]).expect(201)).body.id as number;
    await test.as.orgMember.post(`workflow_jobs/${made}/cancel/`, {}).expect(202);
    const { body } = await test.as.orgMember.get(`workflow_jobs/${made}/`).expect(200);
    expect(body.status).toBe('canceled');
    await test.as.orgMember.post(`workflow_jobs/${made}/cancel/`, {}).expect(405);
    await test.as.orgMember.delete(`workflow_jobs/${made}/`).expect(403);
    await test.as.orgAdmin.delete(`workflow_jobs/${made}/`).expect(403);
    await test.as.superuser.delete(`workflow_jobs/${made}/`).expect(204);
  });

  it('can be relaunched by its launcher with all its fields', async () => {
    const jobs = [
      node({ identifier: 'one', limit: 'web', extra_vars: { a: 1 } }),
      node({ identifier: 'two' }),
    ];
    const first = (await launch(jobs, { extra_vars: { b: 2 }, limit: 'all' }).expect(201)).body;
    await test.as.orgAdmin.post(`workflow_jobs/${first.id}/relaunch/`, {}).expect(403);
    expect((await test.as.orgMember.get(`workflow_jobs/${first.id}/relaunch/`)).body).toEqual({});
    const { body } = await test.as.orgMember
      .post(`workflow_jobs/${first.id}/relaunch/`, {})
      .expect(201);
    expect(body).toMatchObject({
      name: 'Bulk',
      status: 'pending',
      launch_type: 'relaunch',
      limit: 'all',
      extra_vars: '{"b": 2}',
    });
    expect(body.id).not.toBe(first.id);
    expect(await nodesOf(body)).toMatchObject([
      { identifier: 'one', limit: 'web', extra_data: { a: 1 } },
      { identifier: 'two', limit: null, extra_data: {} },
    ]);
  });

  it('is relaunched without objects of the launch that were deleted', async () => {
    const { superuser } = test.as;
    const { body: group } = await superuser.post('instance_groups/', { name: 'Gone' }).expect(201);
    const environment = { name: 'Gone', image: 'quay.io/team/ee' };
    const { body: image } = await superuser
      .post('execution_environments/', environment)
      .expect(201);
    const { id: organization } = test.home.organization;
    const credential = await test.make.credential({ organization });
    await superuser.patch(`job_templates/${template.id}/`, {
      ask_credential_on_launch: true,
      ask_execution_environment_on_launch: true,
    });
    const request = {
      name: 'Bulk',
      jobs: [node()],
      instance_groups: [group.id],
      execution_environment: image.id,
      credentials: [credential.id],
    };
    const first = (await superuser.post('bulk/job_launch/', request).expect(201)).body;
    await superuser.delete(`instance_groups/${group.id}/`).expect(204);
    await superuser.delete(`execution_environments/${image.id}/`).expect(204);
    await superuser.delete(`credentials/${credential.id}/`).expect(204);
    await superuser.post(`workflow_jobs/${first.id}/relaunch/`, {}).expect(201);
  });

  it('is not relaunched on other hosts if the inventory of a job was deleted', async () => {
    const { superuser } = test.as;
    const gone = await test.make.inventory({ organization: test.home.organization.id });
    const request = { name: 'Bulk', jobs: [node({ inventory: gone.id })] };
    const first = (await superuser.post('bulk/job_launch/', request).expect(201)).body;
    await test.database.execute(sql`DELETE FROM inventories WHERE id = ${gone.id}`);
    const { body } = await superuser.post(`workflow_jobs/${first.id}/relaunch/`, {}).expect(400);
    expect(JSON.stringify(body)).toContain(`Inventories {${gone.id}} not found`);
  });

  it('creates one entry in the activity stream', async () => {
    const { body } = await test.as.orgMember
      .get(`workflow_jobs/${id}/activity_stream/`)
      .expect(200);
    expect(body.results).toMatchObject([{ operation: 'create', object1: 'workflow_job' }]);
  });
});
