import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { LaunchRequest } from '../../src/launching/template-launcher.js';
import { WorkflowJobLauncher } from '../../src/launching/workflow-job-launcher.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries, sameQueries } from '../support/queries.js';
import { WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
let organization: number;
let inventory: Row;
/** Template with all prompts that the tests need. */
let template: Row;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  const project = (await test.make.project({ organization })).id;
  inventory = await test.make.inventory({ organization });
  template = await test.make.jobTemplate({
    project,
    inventory: inventory.id,
    ask_limit_on_launch: true,
    ask_variables_on_launch: true,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
    ask_labels_on_launch: true,
    ask_instance_groups_on_launch: true,
  });
});
afterAll(() => test.close());

const makeWorkflow = (fields: object = {}): Promise<Row> =>
  test.make.workflowTemplate({ organization, ...fields });
const urlOf = ({ id }: Row): string => `workflow_job_templates/${id}/launch/`;
const launch = (workflow: Row, body: object = {}) => test.as.superuser.post(urlOf(workflow), body);
const needs = async (workflow: Row): Promise<Record<string, unknown>> =>
  (await test.as.superuser.get(urlOf(workflow)).expect(200)).body;
const nodesOf = async (job: { workflow_nodes: string }): Promise<Record<string, unknown>[]> =>
  (await test.as.superuser.get(`${job.workflow_nodes}?order_by=id`).expect(200)).body.results;
const asSurvey = async (workflow: Row, spec: object[]): Promise<void> => {
  await test.as.superuser
    .post(`workflow_job_templates/${workflow.id}/survey_spec/`, { name: '', description: '', spec })
    .expect(200);
  await test.as.superuser
    .patch(`workflow_job_templates/${workflow.id}/`, { survey_enabled: true })
    .expect(200);
};

describe('the requirements of a launch', () => {
  it('are empty for a plain workflow', async () => {
    const workflow = await makeWorkflow({ description: 'd' });
    expect(await needs(workflow)).toEqual({
      can_start_without_user_input: true,
      ask_variables_on_launch: false,
      ask_inventory_on_launch: false,
      ask_limit_on_launch: false,
      ask_scm_branch_on_launch: false,
      ask_labels_on_launch: false,
      ask_tags_on_launch: false,
      ask_skip_tags_on_launch: false,
      survey_enabled: false,
      variables_needed_to_start: [],
      node_templates_missing: [],
      node_prompts_rejected: [],
      workflow_job_template_data: { id: workflow.id, name: workflow.name, description: 'd' },
      defaults: {
        inventory: {},
        limit: null,
        scm_branch: null,
        labels: [],
        job_tags: null,
        skip_tags: null,
        extra_vars: '',
      },
    });
  });

  it('include prompts, survey questions and problems of the nodes', async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow({ ask_limit_on_launch: true, inventory: inventory.id });
    await asSurvey(workflow, [
      { question_name: 'Q', variable: 'q', type: 'text', required: true },
      { question_name: 'D', variable: 'd', type: 'text', required: true, default: 'x' },
    ]);
    const missing = await make.workflowNode(workflow);
    const changing = await make.jobTemplate({
      project: template.project_id,
      inventory: inventory.id,
      ask_limit_on_launch: true,
    });
    const rejected = await make.workflowNode(workflow, {
      unified_job_template: changing.id,
      limit: 'x',
    });
    await make.workflowNode(workflow, { unified_job_template: template.id, limit: 'x' });
    await as.superuser
      .patch(`job_templates/${changing.id}/`, { ask_limit_on_launch: false })
      .expect(200);
    expect(await needs(workflow)).toMatchObject({
      can_start_without_user_input: false,
      ask_limit_on_launch: true,
      survey_enabled: true,
      variables_needed_to_start: ['q'],
      node_templates_missing: [missing.id],
      node_prompts_rejected: [rejected.id],
      defaults: { inventory: { id: inventory.id, name: inventory.name } },
    });
  });

  it('need as many statements for fifty nodes as for one', async () => {
    const ask = async (count: number): Promise<() => PromiseLike<unknown>> => {
      const workflow = await makeWorkflow();
      for (let made = 0; made < count; made += 1) {
        await test.make.workflowNode(workflow, { unified_job_template: template.id });
      }
      return () => test.as.superuser.get(urlOf(workflow)).expect(200);
    };
    const one = await ask(1);
    // The first request fills the caches.
    await one();
    await sameQueries(test.database, one, await ask(50));
  });
});

describe('launching', () => {
  it('stores a snapshot of nodes, edges and launch fields', async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow({
      extra_vars: 'a: 1',
      limit: 'web',
      allow_simultaneous: true,
      description: 'd',
    });
    const credential = await make.credential({ organization });
    const root = await make.workflowNode(workflow, {
      unified_job_template: template.id,
      identifier: 'root',
      extra_data: { b: 2 },
      inventory: inventory.id,
    });
    const nodeUrl = `workflow_job_template_nodes/${root.id}/`;
    await as.superuser.post(`${nodeUrl}credentials/`, { id: credential.id }).expect(204);
    const { body: label } = await as.superuser
      .post(`${nodeUrl}labels/`, { name: 'l', organization })
      .expect(201);
    const next = await make.workflowNode(workflow, {
      unified_job_template: template.id,
      identifier: 'next',
      all_parents_must_converge: true,
    });
    await make.workflowNode(workflow, { identifier: 'empty' });
    await as.superuser.post(`${nodeUrl}failure_nodes/`, { id: next.id }).expect(204);
    const { body, headers } = await launch(workflow).expect(201);
    expect(headers.location).toBe(`/api/v2/workflow_jobs/${body.id}/`);
    expect(body).toMatchObject({
      workflow_job: body.id,
      ignored_fields: {},
      type: 'workflow_job',
      name: workflow.name,
      description: 'd',
      status: 'pending',
      launch_type: 'manual',
      workflow_job_template: workflow.id,
      allow_simultaneous: true,
      limit: 'web',
      extra_vars: '{"a": 1}',
    });
    const nodes = await nodesOf(body);
    expect(nodes).toMatchObject([
      {
        identifier: 'root',
        unified_job_template: template.id,
        extra_data: { b: 2 },
        inventory: inventory.id,
        failure_nodes: [nodes[1]!.id],
        success_nodes: [],
      },
      { identifier: 'next', all_parents_must_converge: true },
      { identifier: 'empty', unified_job_template: null },
    ]);
    const listed = async (name: string): Promise<number[]> => {
      const { body: list } = await as.superuser.get(`workflow_job_nodes/${nodes[0]!.id}/${name}/`);
      return list.results.map(({ id }: Row) => id);
    };
    expect(await listed('credentials')).toEqual([credential.id]);
    expect(await listed('labels')).toEqual([label.id]);
    await as.superuser.delete(nodeUrl).expect(204);
    expect(await nodesOf(body)).toHaveLength(3);
  });

  it('uses prompted fields and reports others as ignored', async () => {
    const workflow = await makeWorkflow({ ask_limit_on_launch: true, ask_labels_on_launch: true });
    const label = await test.make.row('label', { name: randomUUID(), organization });
    const { body } = await launch(workflow, {
      limit: 'db',
      labels: [label.id],
      scm_branch: 'x',
      extra_vars: { a: 1 },
      forks: 3,
    }).expect(201);
    expect(body.limit).toBe('db');
    expect(body.ignored_fields).toEqual({ scm_branch: 'x', extra_vars: { a: 1 }, forks: 3 });
    expect(body.extra_vars).toBe('{}');
    expect(body.summary_fields.labels.results).toMatchObject([{ id: label.id }]);
  });

  it.each<[string, object, object]>([
    [
      'inventory',
      { inventory: 999999 },
      { inventory: ['Invalid pk "999999" - object does not exist.'] },
    ],
    ['label', { labels: [999999] }, { labels: ['Invalid pk "999999" - object does not exist.'] }],
    ['branch', { scm_branch: '-x' }, { scm_branch: [expect.any(String)] }],
    ['variables', { extra_vars: '[' }, { extra_vars: [expect.any(String)] }],
    [
      'reserved word',
      { extra_vars: { a: '$encrypted$' } },
      { extra_vars: ['"$encrypted$" is a reserved keyword, may not be used for a.'] },
    ],
  ])('refuses a wrong %s', async (_name, body, errors) => {
    const workflow = await makeWorkflow({
      ask_inventory_on_launch: true,
      ask_labels_on_launch: true,
      ask_scm_branch_on_launch: true,
      ask_variables_on_launch: true,
    });
    const answer = await launch(workflow, body).expect(400);
    expect(answer.body).toEqual(errors);
  });

  it('validates the survey, and encrypts its secrets', async () => {
    const workflow = await makeWorkflow();
    await asSurvey(workflow, [
      { question_name: 'Q', variable: 'q', type: 'integer', required: true },
      { question_name: 'P', variable: 'p', type: 'password', required: true },
    ]);
    const missing = await launch(workflow).expect(400);
    expect(missing.body).toEqual({
      variables_needed_to_start: ["'q' value missing", "'p' value missing"],
    });
    const secret = 'canary-of-a-workflow';
    const extra_vars = { q: 1, p: secret, other: 2 };
    const { body } = await launch(workflow, { extra_vars }).expect(201);
    expect(JSON.parse(body.extra_vars)).toEqual({ q: 1, p: '$encrypted$' });
    expect(body.ignored_fields).toEqual({ extra_vars: { other: 2 } });
    const shown = await test.as.superuser.get(body.url).expect(200);
    expect(JSON.stringify(shown.body)).not.toContain(secret);
    const [row] = await test.database.rows(sql`
      SELECT extra_vars || launch_config::text AS stored FROM unified_jobs WHERE id = ${body.id}`);
    expect(row).toMatchObject({ stored: expect.stringContaining('$sealed$') });
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  it('requires execute, and use on the prompted objects', async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow({ ask_inventory_on_launch: true });
    const user = await make.user();
    const client = await as.asUser(user);
    await client.post(urlOf(workflow)).expect(403);
    await make.grant('workflow_job_template', workflow, 'approval_role', { user });
    await client.get(urlOf(workflow)).expect(200);
    await client.post(urlOf(workflow)).expect(403);
    await make.grant('workflow_job_template', workflow, 'execute_role', { user });
    await client.post(urlOf(workflow)).expect(201);
    const other = await make.inventory({ organization });
    await client.post(urlOf(workflow), { inventory: other.id }).expect(403);
    await make.grant('inventory', other, 'use_role', { user });
    await client.post(urlOf(workflow), { inventory: other.id }).expect(201);
  });

  it('refuses an inventory that is being deleted', async () => {
    const { make, database } = test;
    const dying = await make.inventory({ organization });
    const own = await makeWorkflow({ inventory: dying.id });
    const asking = await makeWorkflow({ ask_inventory_on_launch: true });
    await database.execute(
      sql`UPDATE inventories SET pending_deletion = true WHERE id = ${dying.id}`,
    );
    expect((await launch(own).expect(400)).body).toEqual({
      inventory: ['The inventory associated with this Workflow Job Template is being deleted.'],
    });
    expect((await launch(asking, { inventory: dying.id }).expect(400)).body).toEqual({
      inventory: ['The provided inventory is being deleted.'],
    });
  });

  it('runs once for one Idempotency-Key', async () => {
    const workflow = await makeWorkflow({ ask_limit_on_launch: true });
    const once = test.as.superuser.with({ 'Idempotency-Key': randomUUID() });
    const first = await once.post(urlOf(workflow), { limit: 'a' }).expect(201);
    const again = await once.post(urlOf(workflow), { limit: 'a' }).expect(201);
    expect(again.body.id).toBe(first.body.id);
    await once.post(urlOf(workflow), { limit: 'b' }).expect(409);
  });

  it('needs as many statements for fifty nodes as for one', async () => {
    const { as, make } = test;
    const prepared = async (count: number): Promise<() => PromiseLike<unknown>> => {
      const workflow = await makeWorkflow();
      const made: Row[] = [];
      while (made.length < count) {
        const fields = { unified_job_template: template.id, inventory: inventory.id };
        made.push(await make.workflowNode(workflow, fields));
      }
      const parents = made.slice(0, Math.max(1, count - 1));
      const last = made.at(-1) === parents[0] ? await make.workflowNode(workflow) : made.at(-1)!;
      for (const { id } of parents) {
        const url = `workflow_job_template_nodes/${id}/success_nodes/`;
        await as.superuser.post(url, { id: last.id }).expect(204);
      }
      return () => as.superuser.post(urlOf(workflow)).expect(201);
    };
    await sameQueries(test.database, await prepared(2), await prepared(50));
  });
});

it('credentials of a node are added to those of its template, one of each kind', async () => {
  const { as, make, database } = test;
  const runs = new WorkflowRuns(test);
  const [kept, replaced, added] = [
    await make.credential({ organization, namespace: 'vault', inputs: { vault_password: 'x' } }),
    await make.credential({ organization }),
    await make.credential({ organization }),
  ];
  const used = await make.jobTemplate({
    project: template.project_id,
    inventory: inventory.id,
    ask_credential_on_launch: true,
    ask_instance_groups_on_launch: true,
  });
  for (const { id } of [kept, replaced]) {
    await as.superuser.post(`job_templates/${used.id}/credentials/`, { id }).expect(204);
  }
  const workflow = await runs.template({ n: { unified_job_template: used.id } });
  const { body: nodes } = await as.superuser.get(
    `workflow_job_templates/${workflow.id}/workflow_nodes/`,
  );
  const url = `workflow_job_template_nodes/${nodes.results[0].id}/`;
  await as.superuser.post(`${url}credentials/`, { id: added.id }).expect(204);
  const group = await database.row<Row>(sql`SELECT id FROM instance_groups`);
  await as.superuser.post(`${url}instance_groups/`, { id: group!.id }).expect(204);
  const job = await runs.runOf(await runs.launch(workflow), 'n');
  expect(job).toMatchObject({ status: 'pending', job_explanation: '' });
  const links = await database.rows<{ credential_id: number }>(sql`
    SELECT credential_id FROM job_credentials WHERE job_id = ${job!.id} ORDER BY credential_id`);
  expect(links.map((link) => link.credential_id)).toEqual([kept.id, added.id]);
});

it('variables are limited for all nodes together', async () => {
  const workflow = await makeWorkflow({ ask_variables_on_launch: true });
  const large = { extra_vars: { a: 'x'.repeat(40_000) } };
  await test.make.workflowNode(workflow);
  await launch(workflow, large).expect(201);
  await test.database.execute(sql`
    INSERT INTO workflow_job_template_nodes (workflow_job_template_id, identifier)
    SELECT ${workflow.id}, 'n' || number FROM generate_series(1, 1999) AS number`);
  const { body } = await launch(workflow, large).expect(400);
  expect(body).toEqual({ extra_vars: [expect.stringContaining('for all 2000 jobs together.')] });
});

it('nested launches are created together, including those that cannot run', async () => {
  const { app, make, database } = test;
  const launches = app.get(WorkflowJobLauncher, { strict: false });
  const workflow = await makeWorkflow({ ask_limit_on_launch: true });
  await make.workflowNode(workflow, { unified_job_template: template.id, identifier: 'n' });
  const strict = await makeWorkflow();
  await asSurvey(strict, [{ question_name: 'Q', variable: 'q', type: 'text', required: true }]);
  const request = ({ id }: Row): LaunchRequest => ({
    templateId: id,
    launchType: 'workflow',
    prompts: { limit: 'x', forks: 2 },
    extraVars: { handed: 1, secret: 's' },
    secretNames: ['secret'],
    createdBy: null,
  });
  const run = (requests: LaunchRequest[]) => database.transaction(() => launches.spawn(requests));
  const made = await run([request(workflow), request(strict)]);
  expect(made.map(({ errors }) => errors)).toEqual([
    {},
    { variables_needed_to_start: ["'q' value missing"] },
  ]);
  const rows = await database.rows(sql`
    SELECT status, launch_type, "limit", extra_vars, unified_job_template_id AS template,
      (SELECT count(*)::int FROM workflow_job_nodes WHERE workflow_job_id = job.id) AS nodes
    FROM unified_jobs job WHERE id = ANY(${made.map(({ run: launched }) => launched?.id)}::bigint[]) ORDER BY id`);
  expect(rows).toMatchObject([
    { status: 'pending', launch_type: 'workflow', limit: 'x', template: workflow.id, nodes: 1 },
    { status: 'pending', limit: null, template: strict.id, nodes: 0 },
  ]);
  expect(JSON.parse(String((rows[0] as Row).extra_vars))).toEqual({
    handed: 1,
    secret: '$encrypted$',
  });
  const many = Array.from({ length: 20 }, () => request(workflow));
  const one = await countQueries(database, () => run([request(workflow)]));
  expect(await countQueries(database, () => run(many))).toBe(one);
});
