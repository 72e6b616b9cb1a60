import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { bulkLaunches, type BulkLaunches } from '../support/bulk-launches.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let { template, closed, launch, node, nodesOf, runs } = {} as BulkLaunches;
beforeAll(async () => {
  test = await boot();
  ({ template, closed, launch, node, nodesOf, runs } = await bulkLaunches(test));
});
afterAll(() => test.close());

describe('a bulk launch', () => {
  it('creates a pending workflow job with a node for each job', async () => {
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

  it('returns its own variables in the form that clients compare', async () => {
    const extra_vars = { a: 'b', c: 1, deep: [{ 'x,y': 'a:b' }, []] };
    const { body } = await launch([node()], { extra_vars }).expect(201);
    const text = '{"a": "b", "c": 1, "deep": [{"x,y": "a:b"}, []]}';
    expect(body.extra_vars).toBe(text);
    for (const path of [body.url, `${body.url}?format=json`]) {
      expect((await test.as.superuser.get(path).expect(200)).body.extra_vars).toBe(text);
    }
    const { body: list } = await test.as.superuser.get(`workflow_jobs/?id=${body.id}`).expect(200);
    expect(list.results[0].extra_vars).toBe(text);
  });

  it('stores every prompt of a node but its instance groups', async () => {
    const asks = { ask_instance_groups_on_launch: true };
    await test.as.superuser.patch(`job_templates/${template.id}/`, asks).expect(200);
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
    const jobs = [node({ ...prompts, credentials: [credential.id], instance_groups: [99] })];
    const { body } = await test.as.superuser
      .post('bulk/job_launch/', { name: 'All', jobs })
      .expect(201);
    const [made] = await nodesOf(body);
    expect(made).toMatchObject(prompts);
    const url = `workflow_job_nodes/${String(made!.id)}/`;
    const listed = await test.as.superuser.get(`${url}credentials/`);
    expect(listed.body.results).toMatchObject([{ id: credential.id }]);
    expect((await test.as.superuser.get(`${url}instance_groups/`)).body.count).toBe(0);
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

  it('names the prompts that the template of a node does not accept', async () => {
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

  it('refuses two aliases of the variables that differ', async () => {
    const { body } = await launch([node({ extra_vars: { a: 1 }, extra_data: { a: 2 } })]).expect(
      400,
    );
    expect(body.jobs[0]).toEqual({
      extra_vars: ['extra_vars and extra_data differ: send one of them.'],
    });
    await launch([node({ extra_vars: 'a: 1', extra_data: { a: 1 } })]).expect(201);
  });

  it('refuses repeated identifiers', async () => {
    const { body } = await launch([node({ identifier: 'x' }), node({ identifier: 'x' })]).expect(
      400,
    );
    expect(body).toEqual({ __all__: ['Identifier x not unique'] });
  });

  it('accepts exactly as many jobs as the setting permits', async () => {
    await test.as.superuser.patch('settings/bulk/', { BULK_JOB_MAX_LAUNCH: 2 }).expect(200);
    await launch([node(), node()]).expect(201);
    expect((await launch([node(), node(), node()]).expect(400)).body).toEqual({
      __all__: [
        'Number of requested jobs exceeds system setting BULK_JOB_MAX_LAUNCH: 3 sent, 2 allowed.',
      ],
    });
    await test.as.superuser.delete('settings/bulk/').expect(204);
  });

  it('limits the size of all variables, and counts those of the launch for each job', async () => {
    const most = 2048;
    await test.as.superuser.patch('settings/bulk/', { BULK_JOB_VARIABLES_LIMIT: most }).expect(200);
    const text = (length: number): object => ({ text: 'x'.repeat(length - '{"text":""}'.length) });
    const two = (own: number, shared: number): Parameters<typeof launch> => [
      [node({ extra_vars: text(own) }), node({ extra_vars: text(own) })],
      { extra_vars: text(shared) },
    ];
    await launch(...two(most / 4, most / 4)).expect(201);
    expect((await launch(...two(most / 4, most / 4 + 1)).expect(400)).body).toEqual({
      __all__: [
        'Number of characters of variables exceeds system setting BULK_JOB_VARIABLES_LIMIT: 2050 sent, 2048 allowed.',
      ],
    });
    await test.as.superuser.delete('settings/bulk/').expect(204);
  });

  it('responds alike for unknown and unreadable objects', async () => {
    const hidden = await test.make.jobTemplate();
    const foreign = await test.make.inventory({ organization: test.home.otherOrganization.id });
    const secret = await test.make.credential({ organization: test.home.otherOrganization.id });
    const manual = await test.make.project({ organization: test.home.otherOrganization.id });
    const before = await runs();
    const { body } = await launch([
      node(),
      node({}, hidden),
      { unified_job_template: manual.id },
      node({ inventory: foreign.id, credentials: [secret.id, 999_998] }),
      { unified_job_template: 999_999 },
      node({ labels: [4], execution_environment: 5 }),
    ]).expect(400);
    const tail = "not found or you don't have permissions to access it";
    expect(body).toEqual({
      __all__: [
        `Unified Job Templates {${hidden.id}, ${manual.id}, 999999} ${tail}`,
        `Inventories {${foreign.id}} ${tail}`,
        `Credentials {${secret.id}, 999998} ${tail}`,
        `Labels {4} ${tail}`,
        `Execution Environments {5} ${tail}`,
      ],
    });
    expect(await runs()).toBe(before);
  });

  it('names unknown or unreadable objects of the launch by their field', async () => {
    const foreign = await test.make.inventory({ organization: test.home.otherOrganization.id });
    const secret = await test.make.credential({ organization: test.home.otherOrganization.id });
    const invalid = (id: number) => `Invalid pk "${id}" - object does not exist.`;
    const send = (fields: object, jobs = [node()]) =>
      test.as.orgAdmin.post('bulk/job_launch/', { name: 'x', jobs, ...fields }).expect(400);
    for (const inventory of [foreign.id, 999_997]) {
      expect((await send({ inventory })).body).toEqual({ inventory: [invalid(inventory)] });
    }
    const { body } = await send(
      {
        inventory: 999_997,
        credentials: [secret.id, 999_998],
        labels: [4],
        execution_environment: 5,
        organization: 999_999,
      },
      [node({ inventory: foreign.id })],
    );
    const tail = "not found or you don't have permissions to access it";
    expect(body).toEqual({
      inventory: [invalid(999_997)],
      credentials: [invalid(secret.id), invalid(999_998)],
      labels: [invalid(4)],
      execution_environment: [invalid(5)],
      organization: [invalid(999_999)],
      __all__: [`Organization 999999 ${tail}`, `Inventories {${foreign.id}} ${tail}`],
    });
  });

  it('names templates that cannot be part of it', async () => {
    const housekeeping = await test.database.row<Row>(sql`
      INSERT INTO unified_job_templates (type, name) VALUES ('system_job_template', 'Cleanup')
      RETURNING id`);
    const { body } = await launch([node(), { unified_job_template: housekeeping!.id }]).expect(400);
    expect(body).toEqual({
      __all__: ['Template types System Job Template not allowed in bulk jobs'],
    });
  });

  it('requires the update role on a project', async () => {
    const project = await test.make.project({
      organization: test.home.organization.id,
      scm_type: 'git',
      scm_url: 'https://a.example/b',
    });
    const user = await test.make.user();
    await test.make.grant('organization', test.home.organization, 'member_role', { user });
    await test.make.grant('project', project, 'read_role', { user });
    const client = await test.as.asUser(user);
    const body = { name: 'x', jobs: [{ unified_job_template: project.id }] };
    expect((await client.post('bulk/job_launch/', body).expect(400)).body.__all__).toEqual([
      `Projects {${project.id}} not found or you don't have permissions to access it`,
    ]);
    await test.make.grant('project', project, 'update_role', { user });
    await client.post('bulk/job_launch/', body).expect(201);
  });

  it('requires use on the inventory and read on labels, also for the whole launch', async () => {
    const { as, home, make } = test;
    const organization = home.organization.id;
    const inventory = await make.inventory({ organization });
    const label = await make.row('label', { name: 'ours', organization });
    const user = await make.user();
    await make.grant('organization', home.otherOrganization, 'member_role', { user });
    await make.grant('job_template', template, 'execute_role', { user });
    await make.grant('inventory', inventory, 'read_role', { user });
    const client = await as.asUser(user);
    const send = (fields: object, job: object = {}) =>
      client.post('bulk/job_launch/', { name: 'x', jobs: [node(job)], ...fields });
    const tail = "not found or you don't have permissions to access it";
    expect((await send({ inventory: inventory.id }).expect(400)).body).toEqual({
      inventory: [`Invalid pk "${inventory.id}" - object does not exist.`],
    });
    expect((await send({}, { inventory: inventory.id }).expect(400)).body).toEqual({
      __all__: [`Inventories {${inventory.id}} ${tail}`],
    });
    expect((await send({}, { labels: [label.id] }).expect(400)).body).toEqual({
      __all__: [`Labels {${label.id}} ${tail}`],
    });
    await make.grant('inventory', inventory, 'use_role', { user });
    await send({ inventory: inventory.id }).expect(201);
  });

  it('creates a node for each job, in the order of the request', async () => {
    const identifiers = Array.from({ length: 20 }, (_, index) => `job ${20 - index}`);
    const jobs = identifiers.map((identifier) => node({ identifier }));
    const { body } = await launch(jobs).expect(201);
    expect((await nodesOf(body)).map(({ identifier }) => identifier)).toEqual(identifiers);
  });

  it('names templates that the caller may read but not execute', async () => {
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

  it('explains why a job cannot be launched, with its index', async () => {
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

  it('writes nothing in a dry run', async () => {
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

  it('returns the first response for a repeated key', async () => {
    const client = test.as.orgMember.with({ 'Idempotency-Key': 'launch once' });
    const body = { name: 'Once', jobs: [node()] };
    const first = await client.post('bulk/job_launch/', body).expect(201);
    expect((await client.post('bulk/job_launch/', body).expect(201)).body.id).toBe(first.body.id);
    await client.post('bulk/job_launch/', { ...body, name: 'Twice' }).expect(409);
  });

  it('masks secret survey answers', async () => {
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

  it('sends at most 11 statements for one job and for a hundred', async () => {
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
    // The first launch also reads settings.
    await send(1)();
    const one = await countQueries(test.database, send(1));
    expect(await countQueries(test.database, send(100))).toBe(one);
    expect(one).toBeLessThanOrEqual(11);
  });
});
