import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';
import { variablesOf, WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
let runs: WorkflowRuns;
let job: Row;
let inventory: Row;
let workflow: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  const { make, as, home } = test;
  const organization = home.organization.id;
  inventory = await make.inventory({ organization });
  job = await make.jobTemplate({
    project: (await make.project({ organization })).id,
    inventory: inventory.id,
    allow_simultaneous: true,
    ask_variables_on_launch: true,
    ask_limit_on_launch: true,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
    ask_labels_on_launch: true,
    ask_instance_groups_on_launch: true,
  });
  workflow = await runs.template(
    {
      first: { unified_job_template: job.id, limit: 'web', extra_data: { a: 1 } },
      second: { unified_job_template: job.id, all_parents_must_converge: true },
      third: { unified_job_template: job.id },
    },
    [
      ['first', 'success', 'second'],
      ['first', 'failure', 'third'],
      ['second', 'always', 'third'],
    ],
    {
      extra_vars: '{"size": 3}',
      ask_limit_on_launch: true,
      ask_variables_on_launch: true,
      allow_simultaneous: true,
    },
  );
  await make.grant('workflow_job_template', workflow, 'read_role', { user: as.users.teamAdmin });
  await make.grant('workflow_job_template', workflow, 'execute_role', { user: as.users.orgMember });
  await make.grant('workflow_job_template', workflow, 'admin_role', { user: as.users.teamMember });
  await make.grant('job_template', job, 'execute_role', { user: as.users.orgMember });
}, 60_000);
afterAll(() => test.close());

const finished = async (): Promise<number> => {
  const id = await runs.launch(workflow, { limit: 'all' });
  await runs.end(id, 'first', 'successful', { built: 1 });
  await runs.end(id, 'second', 'successful');
  await runs.end(id, 'third', 'successful');
  return id;
};
const nodeOf = async (id: number, identifier: string): Promise<Record<string, unknown>> => {
  const url = `workflow_jobs/${id}/workflow_nodes/?identifier=${identifier}`;
  const { body } = await test.as.superuser.get(url).expect(200);
  return body.results[0];
};

it('a workflow job shows its launch fields', async () => {
  const id = await runs.launch(workflow, { limit: 'all', extra_vars: { b: 2 } });
  const { body } = await test.as.superuser.get(`workflow_jobs/${id}/`).expect(200);
  expect(body).toMatchObject({
    type: 'workflow_job',
    name: workflow.name,
    unified_job_template: workflow.id,
    workflow_job_template: workflow.id,
    job_template: null,
    is_sliced_job: false,
    allow_simultaneous: true,
    limit: 'all',
    status: 'running',
    workflow_nodes: `/api/v2/workflow_jobs/${id}/workflow_nodes/`,
    related: {
      workflow_job_template: `/api/v2/workflow_job_templates/${workflow.id}/`,
      unified_job_template: `/api/v2/workflow_job_templates/${workflow.id}/`,
      labels: `/api/v2/workflow_jobs/${id}/labels/`,
      cancel: `/api/v2/workflow_jobs/${id}/cancel/`,
      relaunch: `/api/v2/workflow_jobs/${id}/relaunch/`,
    },
    summary_fields: {
      workflow_job_template: { id: workflow.id, name: workflow.name },
      unified_job_template: { id: workflow.id, unified_job_type: 'workflow_job' },
      labels: { count: 0, results: [] },
    },
  });
  expect(JSON.parse(body.extra_vars)).toEqual({ size: 3, b: 2 });
  expect(body.extra_vars).toMatch(/^\{"\w+": \d, "\w+": \d\}$/);
  const { body: listed } = await test.as.superuser
    .get(`workflow_jobs/?workflow_job_template=${workflow.id}&id=${id}`)
    .expect(200);
  expect(listed.count).toBe(1);
});

it('a node shows its successors, and why it does not run', async () => {
  const id = await runs.launch(workflow);
  const [first, second, third] = [
    await nodeOf(id, 'first'),
    await nodeOf(id, 'second'),
    await nodeOf(id, 'third'),
  ];
  expect(first).toMatchObject({
    limit: 'web',
    extra_data: { a: 1 },
    success_nodes: [second.id],
    failure_nodes: [third.id],
    always_nodes: [],
    do_not_run: false,
  });
  expect(second).toMatchObject({ all_parents_must_converge: true, always_nodes: [third.id] });
  for (const [kind, child] of [
    ['success', second],
    ['failure', third],
  ] as const) {
    const url = `workflow_job_nodes/${first.id as number}/${kind}_nodes/`;
    const { body } = await test.as.teamAdmin.get(url).expect(200);
    expect(body.results.map((one: Row) => one.id)).toEqual([child.id]);
    await test.as.outsider.get(url).expect(403);
    await test.as.superuser.post(url, { id: child.id }).expect(405);
  }
  await runs.end(id, 'first', 'failed');
  expect(await nodeOf(id, 'second')).toMatchObject({ do_not_run: true, job: null });
});

it('a node shows its prompts', async () => {
  const { home, make } = test;
  const organization = home.organization.id;
  const credential = await make.credential({ organization });
  const label = await make.row('label', { name: 'Nightly', organization });
  const labeled = await runs.template({ only: { unified_job_template: job.id } });
  const { body: nodes } = await test.as.superuser
    .get(`workflow_job_templates/${labeled.id}/workflow_nodes/`)
    .expect(200);
  const url = `workflow_job_template_nodes/${nodes.results[0].id as number}/`;
  await test.as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
  await test.as.superuser.post(`${url}labels/`, { id: label.id }).expect(204);
  await test.as.superuser
    .post(`workflow_job_templates/${labeled.id}/labels/`, { id: label.id })
    .expect(204);
  const id = await runs.launch(labeled);
  const { id: nodeId } = await nodeOf(id, 'only');
  for (const [path, child] of [
    [`workflow_job_nodes/${nodeId as number}/credentials/`, credential],
    [`workflow_job_nodes/${nodeId as number}/labels/`, label],
    [`workflow_jobs/${id}/labels/`, label],
    [`jobs/${(await runs.runOf(id, 'only'))!.id}/labels/`, label],
  ] as const) {
    const { body } = await test.as.superuser.get(path).expect(200);
    expect([path, body.results.map((one: Row) => one.id)]).toEqual([path, [child.id]]);
  }
  const none = await test.as.superuser
    .get(`workflow_job_nodes/${nodeId as number}/instance_groups/`)
    .expect(200);
  expect(none.body.count).toBe(0);
});

it.each<[PersonaName, number, number, number, number]>([
  ['superuser', 200, 202, 201, 204],
  ['orgAdmin', 200, 202, 201, 204],
  ['orgMember', 200, 403, 201, 403],
  ['teamMember', 200, 202, 403, 403],
  ['teamAdmin', 200, 403, 403, 403],
  ['auditor', 200, 403, 403, 403],
  ['outsider', 403, 403, 403, 403],
])('%s: read %i, cancel %i, relaunch %i, delete %i', async (persona, read, ...rest) => {
  const [cancel, relaunch, remove] = rest;
  const as = test.as[persona];
  const active = await runs.launch(workflow);
  await as.get(`workflow_jobs/${active}/`).expect(read);
  await as.get(`workflow_jobs/${active}/workflow_nodes/`).expect(read);
  const { body } = await as.get(`workflow_jobs/?id=${active}`).expect(200);
  expect(body.count).toBe(read === 200 ? 1 : 0);
  const all = await as.get(`unified_jobs/?id=${active}`).expect(200);
  expect(all.body.count).toBe(read === 200 ? 1 : 0);
  await as.post(`workflow_jobs/${active}/cancel/`, {}).expect(cancel);
  const over = await finished();
  await as.post(`workflow_jobs/${over}/relaunch/`, {}).expect(relaunch);
  await as.delete(`workflow_jobs/${over}/`).expect(remove);
});

describe('relaunch', () => {
  it('runs the nodes again with the same fields', async () => {
    const id = await finished();
    await test.as.superuser
      .patch(`workflow_job_templates/${workflow.id}/`, { extra_vars: '{"size": 4}' })
      .expect(200);
    const { body } = await test.as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201);
    expect(body).toMatchObject({
      name: workflow.name,
      launch_type: 'relaunch',
      workflow_job_template: workflow.id,
      limit: 'all',
      status: 'pending',
      launched_by: { name: 'orgMember' },
    });
    await runs.advance();
    const first = (await runs.runOf(body.id as number, 'first'))!;
    expect(first).toMatchObject({ limit: 'all', created_by_id: test.as.users.orgMember.id });
    expect(variablesOf(first)).toEqual({ a: 1, size: 3 });
    await test.as.superuser
      .patch(`workflow_job_templates/${workflow.id}/`, { extra_vars: '{"size": 3}' })
      .expect(200);
    await runs.end(body.id as number, 'first', 'failed');
    expect(await runs.outcomes(body.id as number)).toEqual({
      first: 'failed',
      second: 'skipped',
      third: '',
    });
  });

  it('requires the permissions for the templates and prompts of the nodes', async () => {
    const secret = await test.make.inventory({ organization: test.home.organization.id });
    const other = await runs.template(
      { only: { unified_job_template: job.id, inventory: secret.id } },
      [],
    );
    const { make, as } = test;
    const user = as.users.orgMember;
    await make.grant('workflow_job_template', other, 'execute_role', { user });
    const group = await make.row('instance_group', { name: 'near production' });
    const nodes = await as.superuser.get(`workflow_job_templates/${other.id}/workflow_nodes/`);
    const groups = `workflow_job_template_nodes/${nodes.body.results[0].id}/instance_groups/`;
    await as.superuser.post(groups, { id: group.id }).expect(204);
    const id = await runs.launch(other);
    const relaunch = () => as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {});
    const { body } = await relaunch().expect(403);
    expect(body).toEqual({
      detail: 'You do not have permission to the workflow job resources required for relaunch.',
    });
    await make.grant('inventory', secret, 'use_role', { user });
    await relaunch().expect(403);
    await make.grant('instance_group', group, 'use_role', { user });
    await relaunch().expect(201);
  });

  it('needs no permission for the inventory of the template', async () => {
    const own = await test.make.inventory({ organization: test.home.organization.id });
    const deploy = await runs.template({ only: { unified_job_template: job.id } }, [], {
      inventory: own.id,
    });
    const user = test.as.users.orgMember;
    await test.make.grant('workflow_job_template', deploy, 'execute_role', { user });
    const id = await runs.launch(deploy);
    const { body } = await test.as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201);
    expect(body.inventory).toBe(own.id);
  });

  it('of system jobs is refused for users who may not launch system jobs', async () => {
    const cleanup = await test.database.row<Row>(sql`
      SELECT id FROM unified_job_templates WHERE job_type = 'cleanup_jobs'`);
    const nightly = await runs.template({ only: { unified_job_template: cleanup!.id } });
    const user = test.as.users.orgMember;
    await test.make.grant('workflow_job_template', nightly, 'execute_role', { user });
    const id = await runs.launch(nightly);
    await test.as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {}).expect(403);
    await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201);
  });

  it.each(['the workflow', 'a node'])(
    'is refused if the inventory of %s was deleted',
    async (on) => {
      const gone = await test.make.inventory({ organization: test.home.organization.id });
      const field = { inventory: gone.id };
      const [ofNode, ofWorkflow] = on === 'a node' ? [field, {}] : [{}, field];
      const staged = await runs.template(
        { only: { unified_job_template: job.id, ...ofNode } },
        [],
        ofWorkflow,
      );
      const id = await runs.launch(staged);
      await runs.end(id, 'only', 'successful');
      await test.as.superuser.delete(`inventories/${gone.id}/`).expect(202);
      const relaunch = () =>
        test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400);
      const detail = 'An inventory of the workflow job is missing or undefined.';
      expect((await relaunch()).body).toEqual({ detail });
      await test.database.execute(sql`DELETE FROM inventories WHERE id = ${gone.id}`);
      expect((await relaunch()).body).toEqual({ detail });
    },
  );

  it('is refused if the template was deleted', async () => {
    const lost = await runs.template({ only: { unified_job_template: job.id } });
    const id = await runs.launch(lost);
    await runs.end(id, 'only', 'successful');
    await test.as.superuser.delete(`workflow_job_templates/${lost.id}/`).expect(204);
    const { body } = await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400);
    expect(body).toEqual({ detail: 'Workflow Job Template is missing or undefined.' });
  });

  it('is refused if the number of slices changed', async () => {
    const id = await finished();
    await test.database.execute(sql`
      UPDATE unified_jobs SET is_sliced_job = true, unified_job_template_id = ${job.id},
        job_template_id = ${job.id}
      WHERE id = ${id}`);
    const { body } = await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400);
    expect(body).toEqual({
      detail: 'Cannot relaunch sliced workflow job after slice count has changed.',
    });
    const { body: shown } = await test.as.superuser.get(`workflow_jobs/${id}/`).expect(200);
    expect(shown).toMatchObject({
      is_sliced_job: true,
      job_template: job.id,
      workflow_job_template: null,
    });
  });
});

it('an active workflow job and its jobs cannot be deleted', async () => {
  const id = await runs.launch(workflow);
  const running = await test.as.superuser.delete(`workflow_jobs/${id}/`).expect(403);
  expect(running.body).toEqual({ detail: 'Cannot delete running job resource.' });
  const first = (await runs.runOf(id, 'first'))!;
  await runs.end(id, 'first', 'successful');
  const part = await test.as.superuser.delete(`jobs/${first.id}/`).expect(403);
  expect(part.body).toEqual({
    detail: 'Cannot delete job resource when associated workflow job is running.',
  });
  await test.as.superuser.post(`workflow_jobs/${id}/cancel/`, {}).expect(202);
  await runs.settle();
  await test.as.superuser.delete(`jobs/${first.id}/`).expect(204);
  expect(await nodeOf(id, 'first')).toMatchObject({ job: null, do_not_run: false });
  await test.as.superuser.delete(`workflow_jobs/${id}/`).expect(204);
});

it('lists of workflow jobs and nodes need a constant number of statements', async () => {
  for (let count = 0; count < 5; count += 1) await runs.launch(workflow);
  const ofWorkflow = `workflow_job_template=${workflow.id}`;
  for (const path of [
    `workflow_jobs/?${ofWorkflow}`,
    `workflow_job_nodes/?workflow_job__${ofWorkflow}`,
  ]) {
    await samePageQueries(test.database, test.as.orgMember, `${path}&order_by=-id`, [1, 5]);
  }
});
