import type { Row } from '../../src/common/resource/define-resource.js';
import { JobLauncher } from '../../src/launching/job-launcher.service.js';
import { Launchers } from '../../src/launching/launchers.service.js';
import { RunsRepository } from '../../src/runs/runs.repository.js';
import { sql } from '../../src/database/sql.js';
import { WorkflowRows } from '../../src/workflows/workflow-rows.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, ...fields });

describe('Idempotency-Key', () => {
  it('returns the first response to a repetition and refuses another body', async () => {
    const template = await makeTemplate({ ask_limit_on_launch: true });
    const path = `job_templates/${template.id}/launch/`;
    const client = test.as.superuser.with({ 'Idempotency-Key': 'once' });
    const first = await client.post(path, { limit: 'a' }).expect(201);
    const second = await client.post(path, { limit: 'a' }).expect(201);
    expect(second.body).toEqual(first.body);
    expect(second.headers.location).toBe(first.headers.location);
    await client.post(path, { limit: 'b' }).expect(409);
    await test.as.superuser
      .with({ 'Idempotency-Key': 'x'.repeat(256) })
      .post(path, {})
      .expect(400);
    const { body } = await test.as.superuser.get(`job_templates/${template.id}/jobs/`).expect(200);
    expect(body.count).toBe(1);
  });

  it('belongs to its caller, and stays unused after a refused request', async () => {
    const template = await makeTemplate({ ask_forks_on_launch: true });
    const path = `job_templates/${template.id}/launch/`;
    const key = { 'Idempotency-Key': 'shared' };
    await test.as.superuser.with(key).post(path, { forks: 999 }).expect(400);
    const mine = await test.as.superuser.with(key).post(path, {}).expect(201);
    await test.make.grant('job_template', template, 'execute_role', { user: test.as.users.nobody });
    const his = await test.as.nobody.with(key).post(path, {}).expect(201);
    expect(his.body.id).not.toBe(mine.body.id);
  });

  it('launches once for twenty simultaneous requests', async () => {
    const template = await makeTemplate();
    const client = test.as.superuser.with({ 'Idempotency-Key': 'race' });
    const path = `job_templates/${template.id}/launch/`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post(path, {}).expect(201)),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });
});

it('a thousand jobs are launched with as many statements as one', async () => {
  const launches = test.app.get(JobLauncher, { strict: false });
  const template = await makeTemplate({ ask_limit_on_launch: true });
  const request = {
    templateId: template.id,
    launchType: 'manual' as const,
    prompts: { limit: 'x' },
    createdBy: null,
  };
  const count = (size: number) =>
    countQueries(test.database, () =>
      launches.launch(
        Array.from({ length: size }, () => request),
        null,
      ),
    );
  const one = await count(1);
  expect(await count(1000)).toBe(one);
  expect(one).toBeLessThanOrEqual(15);
});

it('a launch by the system starts again if a credential is deleted meanwhile', async () => {
  const { make, home, as, app, database } = test;
  const { id } = await make.credential({ organization: home.organization.id });
  const template = await makeTemplate();
  await as.superuser.post(`job_templates/${template.id}/credentials/`, { id }).expect(204);
  const runs = app.get(RunsRepository, { strict: false });
  const attach = jest.spyOn(runs, 'attachCredentials').mockImplementationOnce(async (links) => {
    await database.withClient((client) =>
      client.query('DELETE FROM credentials WHERE id = $1', [id]),
    );
    return runs.attachCredentials(links);
  });
  const request = { templateType: 'job_template', templateId: template.id, prompts: {} };
  const results = await database.transaction(() =>
    app
      .get(Launchers, { strict: false })
      .launchPossible([{ ...request, launchType: 'scheduled', createdBy: null }]),
  );
  attach.mockRestore();
  expect(results).toMatchObject([{ run: { type: 'job' }, errors: {} }]);
});

it('a scheduled launch omits labels that are deleted after its schedule was read', async () => {
  const { make, home, as, app, database } = test;
  const label = await make.row('label', { name: 'Gone', organization: home.organization.id });
  const { body: group } = await as.superuser.post('instance_groups/', { name: 'Gone' }).expect(201);
  const template = await makeTemplate({
    ask_labels_on_launch: true,
    ask_instance_groups_on_launch: true,
  });
  await as.superuser.delete(`instance_groups/${group.id}/`).expect(204);
  await database.execute(sql`DELETE FROM labels WHERE id = ${label.id}`);
  const request = { templateType: 'job_template', templateId: template.id, createdBy: null };
  const prompts = { labels: [label.id], instance_groups: [group.id as number] };
  const results = await database.transaction(() =>
    app
      .get(Launchers, { strict: false })
      .launchPossible([{ ...request, launchType: 'scheduled', prompts }]),
  );
  expect(results).toMatchObject([{ run: { type: 'job' }, errors: {} }]);
});

it('large or many nodes and slices of several launches are created one after the other', async () => {
  const write = jest.spyOn(test.app.get(WorkflowRows, { strict: false }), 'write');
  const launch = async (type: string, { id }: Row, prompts: object) => {
    write.mockClear();
    const request = { templateId: id, templateType: type, prompts, createdBy: null } as const;
    const requests = Array.from({ length: 3 }, () => ({
      ...request,
      launchType: 'workflow' as const,
    }));
    await test.database.transaction(() =>
      test.app.get(Launchers, { strict: false }).spawn(requests),
    );
    return write.mock.calls.map(([jobs]) => jobs.length);
  };
  const workflow = await test.make.workflowTemplate();
  const node = await test.make.workflowNode(workflow);
  expect(await launch('workflow_job_template', workflow, {})).toEqual([3]);
  await test.database.execute(sql`
    UPDATE workflow_job_template_nodes
    SET extra_data = json_build_object('a', repeat('x', 3000000)) WHERE id = ${node.id}`);
  expect(await launch('workflow_job_template', workflow, {})).toEqual([2, 1]);
  await test.database.execute(sql`
    WITH emptied AS (UPDATE workflow_job_template_nodes SET extra_data = '{}' WHERE id = ${node.id})
    INSERT INTO workflow_job_template_nodes (workflow_job_template_id, identifier)
    SELECT ${workflow.id}, 'n' || number FROM generate_series(1, 3000) AS number`);
  expect(await launch('workflow_job_template', workflow, {})).toEqual([2, 1]);
  await test.make.hosts(inventory, 100);
  const sliced = await makeTemplate({ job_slice_count: 100, ask_limit_on_launch: true });
  expect(await launch('job_template', sliced, { limit: 'x' })).toEqual([3]);
  expect(await launch('job_template', sliced, { limit: 'x'.repeat(30_000) })).toEqual([2, 1]);
  write.mockRestore();
});

it('the ref of an event is used only if the template and project allow it', async () => {
  const launches = test.app.get(JobLauncher, { strict: false });
  const project = await test.make.project();
  await test.database.execute(
    sql`UPDATE unified_job_templates SET allow_override = true WHERE id = ${project.id}`,
  );
  const asking = await makeTemplate({ project: project.id, ask_scm_branch_on_launch: true });
  const fixed = await makeTemplate({ project: project.id });
  const launched = await launches.launch(
    [asking, fixed].map(({ id }) => ({
      templateId: id,
      launchType: 'webhook' as const,
      prompts: {},
      createdBy: null,
      scmBranch: 'abc123',
      extraVars: { forced: true },
    })),
    null,
  );
  expect(launched.map(({ ignored }) => ignored)).toEqual([{}, {}]);
  const jobIds = launched.map(({ id }) => id);
  const rows = await test.database.rows<Row>(
    sql`SELECT id, scm_branch, extra_vars FROM unified_jobs WHERE id = ANY(${jobIds}) ORDER BY id`,
  );
  expect(rows.map((row) => row.scm_branch)).toEqual(['abc123', '']);
  expect(rows[0]!.extra_vars).toBe('{"forced": true}');
});
