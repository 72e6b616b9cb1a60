import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let template: Row;
let closed: Row;
beforeAll(async () => {
  test = await boot();
  const { make, home } = test;
  const organization = home.organization.id;
  const project = (await make.project({ organization })).id;
  const inventory = (await make.inventory({ organization })).id;
  template = await make.jobTemplate({
    project,
    inventory,
    allow_simultaneous: true,
    ask_limit_on_launch: true,
    ask_variables_on_launch: true,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
  });
  closed = await make.jobTemplate({ project, inventory, allow_simultaneous: true });
  for (const one of [template, closed]) {
    await make.grant('job_template', one, 'execute_role', { user: test.as.users.orgMember });
  }
});
afterAll(() => test.close());

const launch = (jobs: unknown, extra: object = {}, query = '') =>
  test.as.orgMember.post(`bulk/job_launch/${query}`, { name: 'Bulk', jobs, ...extra });
const node = (fields: object = {}, of: Row = template) => ({
  unified_job_template: of.id,
  ...fields,
});
const nodesOf = async (workflow: { workflow_nodes: string }) => {
  const { body } = await test.as.superuser.get(workflow.workflow_nodes).expect(200);
  return body.results as Record<string, unknown>[];
};
const runs = async (): Promise<number> =>
  (await test.database.row<{ n: number }>(sql`SELECT count(*)::int AS n FROM unified_jobs`))!.n;

describe('a bulk launch', () => {
  it('makes a pending workflow job with a node for each job', async () => {
    const { body, headers } = await launch([
      node({ identifier: 'one', limit: 'web', extra_vars: { a: 1 } }),
      node({ identifier: 'two', extra_data: '{"b": 2}' }),
    ]).expect(201);
    const path = `/api/v2/workflow_jobs/${body.id}/`;
    expect(body).toMatchObject({
      type: 'workflow_job',
      url: path,
      name: 'Bulk',
      status: 'pending',
      workflow_nodes: `${path}workflow_nodes/`,
      unified_job_template: null,
      workflow_job_template: null,
      launch_type: 'manual',
      extra_vars: '{}',
      ignored_fields: {},
      organization: test.home.organization.id,
      related: { workflow_nodes: `${path}workflow_nodes/`, cancel: `${path}cancel/` },
      summary_fields: { organization: { id: test.home.organization.id } },
    });
    expect(body).not.toHaveProperty('execution_node');
    expect(headers.location).toBe(path);
    expect(await nodesOf(body)).toMatchObject([
      { identifier: 'one', limit: 'web', extra_data: { a: 1 }, job: null, success_nodes: [] },
      { identifier: 'two', limit: null, extra_data: { b: 2 }, do_not_run: false },
    ]);
  });

  it('keeps every prompt of a node', async () => {
    const credential = await test.make.credential({ organization: test.home.organization.id });
    const prompts = {
      inventory: template.inventory_id,
      limit: 'a',
      job_type: 'check',
      verbosity: 3,
      job_tags: 't',
      skip_tags: 's',
      diff_mode: true,
      scm_branch: 'main',
      forks: 2,
      timeout: 5,
      job_slice_count: 1,
    };
    const jobs = [node({ ...prompts, credentials: [credential.id], instance_groups: [1] })];
    const { body } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'All', jobs })
      .expect(201);
    const [made] = await nodesOf(body);
    expect(made).toMatchObject(prompts);
    const listed = await test.as.superuser.get(
      `workflow_job_nodes/${String(made!.id)}/credentials/`,
    );
    expect(listed.body.results).toMatchObject([{ id: credential.id }]);
    const ignored = body.ignored_fields[String(made!.identifier)] as string[];
    expect(ignored.sort()).toEqual([
      'diff_mode',
      'forks',
      'instance_groups',
      'job_tags',
      'job_type',
      'scm_branch',
      'skip_tags',
      'timeout',
      'verbosity',
    ]);
  });

  it('names what a template does not ask for, of the node alone', async () => {
    const { body } = await launch(
      [node({ identifier: 'x', limit: 'web', extra_vars: { a: 1 } }, closed)],
      { job_tags: 'all' },
    ).expect(201);
    expect(body.ignored_fields).toEqual({ x: ['limit', 'extra_vars'] });
    expect(body.job_tags).toBe('all');
  });

  it.each([
    [{}, { name: ['This field is required.'], jobs: ['This field is required.'] }],
    [{ name: 'x', jobs: [] }, { jobs: ['This list may not be empty.'] }],
    [{ name: 'x', jobs: {} }, { jobs: ['Expected a list of items but got type "dict".'] }],
    [
      { name: 'x', jobs: [1], limit: '' },
      {
        limit: ['This field may not be blank.'],
        jobs: [{ __all__: ['Invalid data. Expected a dictionary, but got int.'] }],
      },
    ],
    [
      { name: 'x', jobs: [{ unified_job_template: 1 }, {}, { unified_job_template: 'y' }] },
      {
        jobs: [
          {},
          { unified_job_template: ['This field is required.'] },
          { unified_job_template: ['A valid integer is required.'] },
        ],
      },
    ],
  ])('refuses %j', async (body, errors) => {
    expect((await test.as.orgMember.post('bulk/job_launch/', body).expect(400)).body).toEqual(
      errors,
    );
  });

  it('refuses variables under two names that differ', async () => {
    const { body } = await launch([node({ extra_vars: { a: 1 }, extra_data: { a: 2 } })]).expect(
      400,
    );
    expect(body.jobs[0]).toEqual({
      extra_vars: ['extra_vars and extra_data differ: send one of them.'],
    });
    await launch([node({ extra_vars: 'a: 1', extra_data: { a: 1 } })]).expect(201);
  });

  it('refuses identifiers that occur twice', async () => {
    const { body } = await launch([node({ identifier: 'x' }), node({ identifier: 'x' })]).expect(
      400,
    );
    expect(body).toEqual({ __all__: ['Identifier x not unique'] });
  });

  it('keeps to the setting, exactly', async () => {
    await test.as.superuser.patch('settings/bulk/', { BULK_JOB_MAX_LAUNCH: 2 }).expect(200);
    await launch([node(), node()]).expect(201);
    expect((await launch([node(), node(), node()]).expect(400)).body).toEqual({
      __all__: [
        'Number of requested jobs exceeds system setting BULK_JOB_MAX_LAUNCH: 3 sent, 2 allowed.',
      ],
    });
    await test.as.superuser.delete('settings/bulk/').expect(204);
  });

  it('reads what is unknown like what is hidden', async () => {
    const hidden = await test.make.jobTemplate();
    const foreign = await test.make.inventory({ organization: test.home.otherOrganization.id });
    const secret = await test.make.credential({ organization: test.home.otherOrganization.id });
    const before = await runs();
    const { body } = await launch([
      node(),
      node({}, hidden),
      node({ inventory: foreign.id, credentials: [secret.id, 999_998] }),
      { unified_job_template: 999_999 },
      node({ labels: [4], execution_environment: 5 }),
    ]).expect(400);
    const tail = "not found or you don't have permissions to access it";
    expect(body).toEqual({
      __all__: [
        `Unified Job Templates {${hidden.id}, 999999} ${tail}`,
        `Inventories {${foreign.id}} ${tail}`,
        `Credentials {${secret.id}, 999998} ${tail}`,
        `Labels {4} ${tail}`,
        `Execution Environments {5} ${tail}`,
      ],
    });
    expect(await runs()).toBe(before);
  });

  it('names templates that may be read and not launched', async () => {
    const user = await test.make.user();
    await test.make.grant('organization', test.home.organization, 'member_role', { user });
    await test.make.grant('job_template', template, 'read_role', { user });
    const client = await test.as.asUser(user);
    const { body } = await client
      .post('bulk/job_launch/', { name: 'x', jobs: [node()] })
      .expect(400);
    expect(body).toEqual({
      __all__: [
        `Job Templates {${template.id}} not found or you don't have permissions to access it`,
      ],
    });
  });

  it('tells why a job cannot be launched, with the job', async () => {
    const bare = await test.make.jobTemplate({ ask_inventory_on_launch: true });
    await test.database.execute(
      sql`UPDATE unified_job_templates SET inventory_id = NULL WHERE id = ${bare.id}`,
    );
    const jobs = [node(), node({}, bare)];
    const { body } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'x', jobs })
      .expect(400);
    expect(body).toEqual({
      jobs: [
        {},
        { resources_needed_to_start: ['Job Template inventory is missing or undefined.'] },
      ],
    });
    // A default of the whole launch fills the gap.
    await test.as.superuser
      .post('bulk/job_launch/', { name: 'x', jobs, inventory: template.inventory_id })
      .expect(201);
  });

  it('only checks in a dry run', async () => {
    const before = await runs();
    const { body } = await launch(
      [node({ identifier: 'x', limit: 'a' }, closed)],
      {},
      '?dry_run=1',
    ).expect(200);
    expect(body).toEqual({
      dry_run: true,
      name: 'Bulk',
      organization: test.home.organization.id,
      jobs: [{ identifier: 'x', unified_job_template: closed.id, ignored_fields: ['limit'] }],
      ignored_fields: { x: ['limit'] },
    });
    await launch([{ unified_job_template: 999_999 }], {}, '?dry_run=1').expect(400);
    expect(await runs()).toBe(before);
  });

  it('gives a repeated key its first answer', async () => {
    const client = test.as.orgMember.with({ 'Idempotency-Key': 'launch once' });
    const body = { name: 'Once', jobs: [node()] };
    const first = await client.post('bulk/job_launch/', body).expect(201);
    expect((await client.post('bulk/job_launch/', body).expect(201)).body.id).toBe(first.body.id);
    await client.post('bulk/job_launch/', { ...body, name: 'Twice' }).expect(409);
  });

  it('masks the secret answers of a survey', async () => {
    const asked = await test.make.jobTemplate({ survey_enabled: true });
    const question = { type: 'password', variable: 'token', question_name: 'T', required: true };
    await test.as.superuser
      .post(`job_templates/${asked.id}/survey_spec/`, {
        name: '',
        description: '',
        spec: [{ ...question, min: 0, max: 99, default: '' }],
      })
      .expect(200);
    const jobs = [node({ extra_vars: { token: 'canary-word' } }, asked)];
    const { body } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'x', jobs })
      .expect(201);
    expect(await nodesOf(body)).toMatchObject([{ extra_data: { token: '$encrypted$' } }]);
    const stored = await test.database.rows(sql`
      SELECT n::text || j::text AS text FROM workflow_job_nodes n
      JOIN unified_jobs j ON j.id = n.workflow_job_id WHERE j.id = ${body.id as number}`);
    expect(JSON.stringify(stored)).not.toContain('canary-word');
  });

  it('sends at most 15 statements, for one job as for a hundred', async () => {
    const credential = await test.make.credential({ organization: test.home.organization.id });
    const fields = { inventory: template.inventory_id, credentials: [credential.id] };
    const send = (count: number) => () =>
      test.as.superuser
        .post('bulk/job_launch/', {
          name: 'Many',
          organization: test.home.organization.id,
          inventory: template.inventory_id,
          jobs: Array.from({ length: count }, () => node(fields)),
        })
        .expect(201);
    const one = await countQueries(test.database, send(1));
    expect(await countQueries(test.database, send(100))).toBe(one);
    expect(one).toBeLessThanOrEqual(15);
  });
});

describe('the organization', () => {
  it('is the only one of its launcher, or named, or none for a superuser', async () => {
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
  ])('for %s is in lists: %s, by URL: %i', async (persona, isListed, status) => {
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

  it('is canceled by its launcher, not by others', async () => {
    const made = (await launch([node()]).expect(201)).body.id as number;
    await test.as.orgAdmin.post(`workflow_jobs/${made}/cancel/`, {}).expect(403);
    await test.as.orgMember.post(`workflow_jobs/${made}/cancel/`, {}).expect(202);
    const { body } = await test.as.orgMember.get(`workflow_jobs/${made}/`).expect(200);
    expect(body.status).toBe('canceled');
    await test.as.orgMember.post(`workflow_jobs/${made}/cancel/`, {}).expect(405);
    await test.as.orgMember.delete(`workflow_jobs/${made}/`).expect(403);
    await test.as.superuser.delete(`workflow_jobs/${made}/`).expect(204);
  });

  it('is launched again by its launcher with all it had', async () => {
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
      extra_vars: '{"b":2}',
    });
    expect(body.id).not.toBe(first.id);
    expect(await nodesOf(body)).toMatchObject([
      { identifier: 'one', limit: 'web', extra_data: { a: 1 } },
      { identifier: 'two', limit: null, extra_data: {} },
    ]);
  });

  it('is one entry of the activity stream', async () => {
    const { body } = await test.as.orgMember
      .get(`workflow_jobs/${id}/activity_stream/`)
      .expect(200);
    expect(body.results).toMatchObject([{ operation: 'create', object1: 'workflow_job' }]);
  });
});
