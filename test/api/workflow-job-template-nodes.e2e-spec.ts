import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
let organization: number;
let project: Row;
let inventory: Row;
/** Template with all prompts. */
let open: Row;
/** Template without prompts. */
let closed: Row;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  project = await test.make.project({ organization });
  inventory = await test.make.inventory({ organization });
  const asks = [
    'diff_mode',
    'variables',
    'limit',
    'tags',
    'skip_tags',
    'job_type',
    'verbosity',
    'inventory',
    'credential',
    'labels',
    'forks',
    'job_slice_count',
    'timeout',
    'instance_groups',
    'execution_environment',
  ].map((word) => [`ask_${word}_on_launch`, true]);
  // The only one, with the id 1.
  await test.make.row('execution_environment', { name: 'Tools', image: 'tools' });
  open = await test.make.jobTemplate({
    project: project.id,
    inventory: inventory.id,
    ...Object.fromEntries(asks),
  });
  closed = await test.make.jobTemplate({ project: project.id, inventory: inventory.id });
});
afterAll(() => test.close());

const NODES = 'workflow_job_template_nodes/';
const urlOf = ({ id }: Pick<Row, 'id'>): string => `${NODES}${id}/`;
const makeWorkflow = (fields: object = {}): Promise<Row> =>
  test.make.workflowTemplate({ organization, ...fields });
const post = (workflow: Row, fields: object = {}) =>
  test.as.superuser.post(NODES, { workflow_job_template: workflow.id, ...fields });

describe('creation', () => {
  it('stores the launch fields that the template accepts', async () => {
    const workflow = await makeWorkflow();
    const prompts = {
      inventory: inventory.id,
      job_type: 'check',
      job_tags: 'a',
      skip_tags: 'b',
      limit: 'web',
      diff_mode: true,
      verbosity: 2,
      forks: 3,
      job_slice_count: 2,
      timeout: 60,
    };
    const { body, headers } = await post(workflow, {
      unified_job_template: open.id,
      identifier: 'deploy',
      all_parents_must_converge: true,
      extra_data: { a: { b: 1 } },
      ...prompts,
      type: 'workflow_job_template_node',
    }).expect(201);
    expect(headers.location).toBe(`/api/v2/${urlOf(body)}`);
    expect(body).toMatchObject({
      type: 'workflow_job_template_node',
      workflow_job_template: workflow.id,
      unified_job_template: open.id,
      identifier: 'deploy',
      all_parents_must_converge: true,
      extra_data: { a: { b: 1 } },
      scm_branch: null,
      execution_environment: null,
      success_nodes: [],
      failure_nodes: [],
      always_nodes: [],
      ...prompts,
    });
    expect(body).not.toHaveProperty('name');
    expect(body.related).toMatchObject({
      unified_job_template: `/api/v2/job_templates/${open.id}/`,
      workflow_job_template: `/api/v2/workflow_job_templates/${workflow.id}/`,
      create_approval_template: `/api/v2/${urlOf(body)}create_approval_template/`,
      credentials: `/api/v2/${urlOf(body)}credentials/`,
      labels: `/api/v2/${urlOf(body)}labels/`,
      instance_groups: `/api/v2/${urlOf(body)}instance_groups/`,
      success_nodes: `/api/v2/${urlOf(body)}success_nodes/`,
    });
    expect(body.summary_fields).toMatchObject({
      workflow_job_template: { id: workflow.id },
      unified_job_template: { id: open.id, name: open.name, unified_job_type: 'job' },
      inventory: { id: inventory.id },
    });
    expect(JSON.stringify(body)).not.toContain('survey_passwords');
  });

  it('works below the workflow too, with a generated name', async () => {
    const workflow = await makeWorkflow();
    const path = `workflow_job_templates/${workflow.id}/workflow_nodes/`;
    const fields = { unified_job_template: closed.id };
    const { body } = await test.as.orgAdmin.post(path, fields).expect(201);
    expect(body.workflow_job_template).toBe(workflow.id);
    expect(body.identifier).toMatch(/^[0-9a-f-]{36}$/);
    const list = await test.as.orgAdmin.get(path).expect(200);
    expect(list.body.results.map(({ id }: Row) => id)).toEqual([body.id]);
    const found = await test.as.orgAdmin
      .get(`${NODES}?identifier=${body.identifier}&workflow_job_template=${workflow.id}`)
      .expect(200);
    expect(found.body.count).toBe(1);
  });

  it.each<[string, object, object]>([
    ['limit', { limit: 'x' }, { limit: ['Field is not configured to prompt on launch.'] }],
    [
      'several fields at once',
      { forks: 2, job_type: 'check' },
      {
        forks: ['Field is not configured to prompt on launch.'],
        job_type: ['Field is not configured to prompt on launch.'],
      },
    ],
    [
      'variables',
      { extra_data: { a: 1 } },
      {
        extra_data: [
          'Variables a are not allowed on launch. Check the Prompt on Launch setting on the ' +
            'Template to include Extra Variables.',
        ],
      },
    ],
    [
      'execution environment',
      { execution_environment: 1 },
      { execution_environment: ['Field is not configured to prompt on launch.'] },
    ],
  ])('refuses fields without a prompt: %s', async (_name, fields, errors) => {
    const workflow = await makeWorkflow();
    const { body } = await post(workflow, { unified_job_template: closed.id, ...fields });
    expect(body).toEqual(errors);
    const count = await test.as.superuser.get(`${NODES}?workflow_job_template=${workflow.id}`);
    expect(count.body.count).toBe(0);
  });

  it.each<[string, object, object]>([
    [
      'no workflow',
      { workflow_job_template: null },
      { workflow_job_template: [expect.any(String)] },
    ],
    ['text for variables', { extra_data: '[' }, { extra_data: [expect.stringMatching(/JSON/)] }],
    ['a list for variables', { extra_data: [1] }, { extra_data: [expect.any(String)] }],
    ['an unknown template', { unified_job_template: 999999 }, expect.any(Object)],
    ['a long name', { identifier: 'x'.repeat(513) }, { identifier: [expect.any(String)] }],
    ['a reserved word', { extra_data: { a: '$encrypted$' } }, { extra_data: [expect.any(String)] }],
    ['no environment there is', { execution_environment: 7 }, expect.any(Object)],
  ])('refuses %s', async (_name, fields, errors) => {
    const workflow = await makeWorkflow();
    const body = { workflow_job_template: workflow.id, unified_job_template: open.id, ...fields };
    const answer = await test.as.superuser.post(NODES, body).expect(400);
    expect(answer.body).toEqual(errors);
  });

  it('requires a unique name in a workflow', async () => {
    const [one, other] = [await makeWorkflow(), await makeWorkflow()];
    await post(one, { identifier: 'x' }).expect(201);
    await post(other, { identifier: 'x' }).expect(201);
    const { body } = await post(one, { identifier: 'x' }).expect(400);
    expect(body).toEqual({
      __all__: [
        'Workflow Job Template Node with this Workflow job template and Identifier already exists.',
      ],
    });
  });

  it('stores only name and workflow for a node without a template', async () => {
    const workflow = await makeWorkflow();
    const { body } = await post(workflow, { limit: 'x', extra_data: { a: 1 } }).expect(201);
    expect(body).toMatchObject({ unified_job_template: null, limit: null, extra_data: {} });
    expect(body.related).not.toHaveProperty('unified_job_template');
  });

  it('limits the variables of all nodes of a workflow', async () => {
    const workflow = await makeWorkflow();
    const fields = { unified_job_template: open.id, extra_data: { a: 1 } };
    const { body: large } = await post(workflow, fields).expect(201);
    await test.database.execute(sql`
      UPDATE workflow_job_template_nodes
      SET extra_data = json_build_object('a', repeat('x', 8388600)) WHERE id = ${large.id}`);
    const refused = {
      extra_data: [
        "The variables and limits of a workflow's nodes may have at most 8388608 characters together.",
      ],
    };
    expect((await post(workflow, fields).expect(400)).body).toEqual(refused);
    const { body: small } = await post(workflow, { unified_job_template: open.id }).expect(201);
    const limited = await test.as.superuser.patch(urlOf(small), { limit: 'web' }).expect(400);
    expect(limited.body).toEqual(refused);
    await test.as.superuser.patch(urlOf(large), { extra_data: { a: 2 } }).expect(200);
    await post(workflow, fields).expect(201);
  });

  it('accepts projects and workflows, which have fewer prompts', async () => {
    const workflow = await makeWorkflow();
    const inner = await makeWorkflow({ ask_limit_on_launch: true });
    const refused = { limit: ['Field is not configured to prompt on launch.'] };
    const sync = await post(workflow, { unified_job_template: project.id }).expect(201);
    expect(sync.body.summary_fields.unified_job_template.unified_job_type).toBe('project_update');
    const limited = await post(workflow, { unified_job_template: project.id, limit: 'x' });
    expect(limited.body).toEqual(refused);
    const nested = { unified_job_template: inner.id, limit: 'x' };
    const { body } = await post(workflow, nested).expect(201);
    expect(body.related.unified_job_template).toBe(`/api/v2/workflow_job_templates/${inner.id}/`);
    const forks = await post(workflow, { ...nested, forks: 2 }).expect(400);
    expect(forks.body).toEqual({ forks: ['Field is not configured to prompt on launch.'] });
  });
});

describe('survey answers', () => {
  let asked: Row;
  beforeAll(async () => {
    asked = await test.make.jobTemplate({
      project: project.id,
      inventory: inventory.id,
      survey_enabled: true,
    });
    const spec = [
      { question_name: 'Count', variable: 'count', type: 'integer', min: 1, required: true },
      { question_name: 'Word', variable: 'word', type: 'password', required: true },
    ];
    await test.as.superuser
      .post(`job_templates/${asked.id}/survey_spec/`, { name: '', description: '', spec })
      .expect(200);
  });

  it('are validated as far as they are given', async () => {
    const workflow = await makeWorkflow();
    const node = (extra_data: object) =>
      post(workflow, { unified_job_template: asked.id, extra_data });
    await node({ count: 2 }).expect(201);
    const { body } = await node({ count: 0 }).expect(400);
    expect(body).toEqual({
      variables_needed_to_start: ["'count' value 0 is too small (must be at least 1)."],
    });
    const other = await node({ other: 1 }).expect(400);
    expect(other.body).toEqual({ extra_data: [expect.stringContaining('Variables other')] });
  });

  it('are encrypted if they are secret', async () => {
    const secret = 'canary-of-a-node';
    const workflow = await makeWorkflow();
    const extra_data = { count: 2, word: secret };
    const { body } = await post(workflow, { unified_job_template: asked.id, extra_data }).expect(
      201,
    );
    expect(body.extra_data).toEqual({ count: 2, word: '$encrypted$' });
    const url = urlOf(body);
    const same = { extra_data: { count: 3, word: '$encrypted$' } };
    const kept = await test.as.superuser.patch(url, same).expect(200);
    expect(kept.body.extra_data).toEqual(same.extra_data);
    const answers = await Promise.all(
      [url, `${url}activity_stream/`, 'activity_stream/?page_size=200'].map((path) =>
        test.as.superuser.get(path),
      ),
    );
    expect(JSON.stringify(answers.map((one) => one.body))).not.toContain(secret);
    const [row] = await test.database.rows(sql`
      SELECT extra_data::text || survey_passwords::text AS stored
      FROM workflow_job_template_nodes WHERE id = ${body.id}`);
    expect(row).toMatchObject({ stored: expect.stringContaining('$sealed$') });
    expect(JSON.stringify(row)).not.toContain(secret);
    const gone = await test.as.superuser.patch(url, { extra_data: { count: 1 } }).expect(200);
    expect(gone.body.extra_data).toEqual({ count: 1 });
    const [after] = await test.database.rows(sql`
      SELECT survey_passwords FROM workflow_job_template_nodes WHERE id = ${body.id}`);
    expect(after).toEqual({ survey_passwords: {} });
  });
});

describe('changes', () => {
  it('validate all launch fields against the new template', async () => {
    const workflow = await makeWorkflow();
    const { body } = await post(workflow, { unified_job_template: open.id, limit: 'x' }).expect(
      201,
    );
    const url = urlOf(body);
    const moved = await test.as.superuser
      .patch(url, { unified_job_template: closed.id })
      .expect(400);
    expect(moved.body).toEqual({ limit: ['Field is not configured to prompt on launch.'] });
    const cleared = { unified_job_template: closed.id, limit: null };
    await test.as.superuser.patch(url, cleared).expect(200);
    await test.as.superuser.patch(url, { unified_job_template: open.id, forks: 4 }).expect(200);
    const emptied = await test.as.superuser.patch(url, { unified_job_template: null }).expect(200);
    expect(emptied.body).toMatchObject({ unified_job_template: null, forks: null });
  });

  it('never move a node to another workflow', async () => {
    const [one, other] = [await makeWorkflow(), await makeWorkflow()];
    const node = await test.make.workflowNode(one);
    const { body } = await test.as.superuser
      .patch(urlOf(node), { workflow_job_template: other.id, identifier: 'new' })
      .expect(200);
    expect(body).toMatchObject({ workflow_job_template: one.id, identifier: 'new' });
  });

  it('keep the node when its template is deleted', async () => {
    const workflow = await makeWorkflow();
    const template = await test.make.jobTemplate({ project: project.id, inventory: inventory.id });
    const node = await test.make.workflowNode(workflow, { unified_job_template: template.id });
    await test.as.superuser.delete(`job_templates/${template.id}/`).expect(204);
    const { body } = await test.as.superuser.get(urlOf(node)).expect(200);
    expect(body.unified_job_template).toBeNull();
  });
});

describe('permissions', () => {
  const RIGHTS: Record<PersonaName, readonly [read: number, add: number, change: number]> = {
    superuser: [200, 201, 200],
    auditor: [200, 403, 403],
    orgAdmin: [200, 201, 200],
    orgMember: [403, 403, 403],
    // Admin of the workflow and of the template.
    teamAdmin: [200, 201, 200],
    // Admin of the workflow alone.
    teamMember: [200, 403, 403],
    outsider: [403, 403, 403],
    nobody: [403, 403, 403],
  };

  it.each(PERSONA_NAMES)('%s', async (name) => {
    const { as, make } = test;
    const [read, add, change] = RIGHTS[name];
    const workflow = await makeWorkflow();
    const users = [as.users.teamAdmin, as.users.teamMember];
    for (const user of users)
      await make.grant('workflow_job_template', workflow, 'admin_role', { user });
    await make.grant('job_template', open, 'execute_role', { user: as.users.teamAdmin });
    const node = await make.workflowNode(workflow, { unified_job_template: open.id });
    await as[name].get(urlOf(node)).expect(read);
    const fields = { workflow_job_template: workflow.id, unified_job_template: open.id };
    await as[name].post(NODES, fields).expect(add);
    await as[name].patch(urlOf(node), { limit: 'x' }).expect(change);
    // Removing a node needs the workflow alone.
    await as[name].delete(urlOf(node)).expect(name === 'teamMember' || change === 200 ? 204 : 403);
  });

  it('require use on the inventory of the node', async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow();
    const user = await make.user();
    await make.grant('workflow_job_template', workflow, 'admin_role', { user });
    await make.grant('job_template', open, 'execute_role', { user });
    const client = await as.asUser(user);
    const fields = {
      workflow_job_template: workflow.id,
      unified_job_template: open.id,
      inventory: inventory.id,
    };
    await client.post(NODES, fields).expect(403);
    await make.grant('inventory', inventory, 'use_role', { user });
    await client.post(NODES, fields).expect(201);
  });
});
