import { SecretBox } from '../../src/common/crypto/secret-box.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { openSecrets } from '../../src/prompts/launch-secrets.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { boot, type TestApp } from '../support/boot.js';
import { recordedKinds } from '../support/launch-entries.js';
import { countQueries } from '../support/queries.js';
import { workflowEngine } from '../support/workflow-engine.js';

let test: TestApp;
let advance: () => Promise<boolean>;
let transitions: RunTransitions;
let box: SecretBox;
let template: Row;
let project: number;

beforeAll(async () => {
  test = await boot();
  const { app, make, home } = test;
  box = app.get(SecretBox, { strict: false });
  transitions = app.get(RunTransitions, { strict: false });
  ({ advance } = workflowEngine(test));
  const organization = home.organization.id;
  project = (await make.project({ organization, scm_type: 'git', scm_url: 'https://a.example/b' }))
    .id;
  await test.database.execute(sql`
    UPDATE unified_job_templates SET status = 'successful', scm_revision = 'abc'
    WHERE id = ${project}`);
  template = await make.jobTemplate({
    allow_simultaneous: true,
    ask_limit_on_launch: true,
    ask_variables_on_launch: true,
  });
});
afterAll(() => test.close());
afterEach(async () => {
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = 'canceled' WHERE status IN ('pending', 'running')`);
});

const launch = async (jobs: object[], extra: object = {}): Promise<number> => {
  const body = { name: 'Bulk', jobs, ...extra };
  return (await test.as.superuser.post('bulk/job_launch/', body).expect(201)).body.id as number;
};
const node = (fields: object = {}) => ({ unified_job_template: template.id, ...fields });
const run = async (id: number): Promise<Row> =>
  (await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`))!;
const childrenOf = (id: number): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT j.* FROM workflow_job_nodes n JOIN unified_jobs j ON j.id = n.job_id
    WHERE n.workflow_job_id = ${id} ORDER BY n.id`);
const end = async (ids: readonly number[], to: JobStatus): Promise<void> => {
  await transitions.move(ids, { from: ['pending'], to: 'waiting' });
  await transitions.move(ids, { from: ['waiting'], to: 'running' });
  await transitions.move(ids, { from: ['running'], to });
};

describe('a bulk launch', () => {
  it('starts all its nodes, whose values override the defaults', async () => {
    const id = await launch([node({ limit: 'own', extra_vars: { animal: 'fish' } }), node()], {
      limit: 'all',
      extra_vars: { animal: 'bear', size: 2 },
    });
    await advance();
    expect(await run(id)).toMatchObject({ status: 'running', job_explanation: '' });
    const [first, second] = await childrenOf(id);
    expect(first).toMatchObject({
      type: 'job',
      status: 'pending',
      launch_type: 'workflow',
      created_by_id: test.as.users.superuser.id,
      limit: 'own',
    });
    expect(JSON.parse(String(first!.extra_vars))).toEqual({ animal: 'fish', size: 2 });
    expect(second).toMatchObject({ limit: 'all' });
    expect(JSON.parse(String(second!.extra_vars))).toEqual({ animal: 'bear', size: 2 });
    const { body } = await test.as.superuser.get(
      `unified_jobs/?unified_job_node__workflow_job=${id}`,
    );
    expect(body.count).toBe(2);
  });

  it('succeeds if all its runs succeeded', async () => {
    const id = await launch([node(), node()]);
    await advance();
    const ids = (await childrenOf(id)).map((child) => child.id);
    await end(ids.slice(0, 1), 'successful');
    await advance();
    expect((await run(id)).status).toBe('running');
    await end(ids.slice(1), 'successful');
    await advance();
    const over = await run(id);
    expect(over).toMatchObject({ status: 'successful', failed: false });
    expect(over.finished).not.toBeNull();
  });

  it.each<JobStatus>(['failed', 'error', 'canceled'])(
    'fails with a run that is %s',
    async (status) => {
      const id = await launch([node({ identifier: 'good' }), node({ identifier: 'bad' })]);
      await advance();
      const [good, bad] = await childrenOf(id);
      await end([good!.id], 'successful');
      await end([bad!.id], status);
      await advance();
      expect(await run(id)).toMatchObject({
        status: 'failed',
        failed: true,
        job_explanation: 'No error handling paths found, marking workflow as failed: bad',
      });
    },
  );

  it('fails with a node whose template was deleted, and starts the others', async () => {
    const gone = await test.make.jobTemplate();
    const id = await launch([node(), { unified_job_template: gone.id, identifier: 'lost' }]);
    await test.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${gone.id}`);
    await advance();
    const ids = (await childrenOf(id)).map((child) => child.id);
    expect(ids).toHaveLength(1);
    await end(ids, 'successful');
    await advance();
    expect(await run(id)).toMatchObject({ status: 'failed' });
    expect((await run(id)).job_explanation).toBe(
      'No error handling paths found, marking workflow as failed: lost. ' +
        'The template cannot be run or is missing: lost.',
    );
  });

  it('explains why a node can no longer start', async () => {
    const id = await launch([node({ identifier: 'late' })]);
    await test.database.execute(sql`
      UPDATE unified_job_templates SET inventory_id = NULL WHERE id = ${template.id}`);
    await advance();
    await test.database.execute(sql`
      UPDATE unified_job_templates SET inventory_id = ${template.inventory_id as number}
      WHERE id = ${template.id}`);
    const [job] = await childrenOf(id);
    expect(job).toMatchObject({ status: 'failed', failed: true });
    expect(job!.job_explanation).toBe(
      'Job spawned from workflow could not start because it was missing a related resource ' +
        'such as project or inventory (Job Template inventory is missing or undefined.)',
    );
    await advance();
    expect(await run(id)).toMatchObject({ status: 'failed' });
  });

  it('starts a node whose instance group was deleted after the launch', async () => {
    const { superuser } = test.as;
    const { body: group } = await superuser.post('instance_groups/', { name: 'Gone' }).expect(201);
    const placed = await test.make.jobTemplate({ ask_instance_groups_on_launch: true });
    const jobs = [{ unified_job_template: placed.id, instance_groups: [group.id] }];
    const id = await launch(jobs);
    await superuser.delete(`instance_groups/${group.id}/`).expect(204);
    await advance();
    expect(await childrenOf(id)).toMatchObject([{ status: 'pending', job_explanation: '' }]);
  });

  it('updates projects, each node separately', async () => {
    const update = { unified_job_template: project };
    const id = await launch([update, node(), update]);
    await advance();
    const runs = await childrenOf(id);
    expect(runs.map(({ type }) => type)).toEqual(['project_update', 'job', 'project_update']);
    expect(new Set(runs.map((one) => one.id)).size).toBe(3);
    expect(runs[0]).toMatchObject({
      launch_type: 'workflow',
      project_id: project,
      created_by_id: test.as.users.superuser.id,
    });
    const kinds = ['job', 'project_update', 'project_update'];
    expect(
      (
        await recordedKinds(
          test.database,
          runs.map(({ id: run }) => run),
        )
      ).sort(),
    ).toEqual(kinds);
  });

  it('updates inventories from their sources', async () => {
    const { make, home } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const source = await make.row('inventory_source', {
      ...{ name: 'From the cloud', inventory: inventory.id, source: 'ec2' },
    });
    const id = await launch([{ unified_job_template: source.id }, node()]);
    await advance();
    const [update] = await childrenOf(id);
    expect(update).toMatchObject({
      ...{ type: 'inventory_update', launch_type: 'workflow', inventory_source_id: source.id },
      ...{ inventory_id: inventory.id, created_by_id: test.as.users.superuser.id },
    });
    expect(await recordedKinds(test.database, [update!.id])).toEqual(['inventory_update']);
  });

  it('cancels its runs when it is canceled', async () => {
    const id = await launch([node(), node()]);
    await advance();
    const [waiting, running] = await childrenOf(id);
    await transitions.move([running!.id], { from: ['pending'], to: 'waiting' });
    await transitions.move([running!.id], { from: ['waiting'], to: 'running' });
    await test.as.superuser.post(`workflow_jobs/${id}/cancel/`, {}).expect(202);
    await advance();
    expect((await run(waiting!.id)).status).toBe('canceled');
    expect(await run(running!.id)).toMatchObject({ status: 'running', cancel_requested: true });
    expect((await run(id)).status).toBe('running');
    await transitions.move([running!.id], { from: ['running'], to: 'canceled' });
    await advance();
    expect((await run(id)).status).toBe('canceled');
  });

  it('passes secret answers to the job in encrypted form', async () => {
    const asked = await test.make.jobTemplate({ survey_enabled: true });
    const question = { type: 'password', variable: 'token', question_name: 'T', required: true };
    const spec = [{ ...question, min: 0, max: 99, default: '' }];
    await test.as.superuser
      .post(`job_templates/${asked.id}/survey_spec/`, { name: '', description: '', spec })
      .expect(200);
    const jobs = [{ unified_job_template: asked.id, extra_vars: { token: 'canary-word' } }];
    const ids = [await launch(jobs)];
    await advance();
    // Answers stay secret if the template no longer has the survey when the node starts.
    ids.push(await launch(jobs));
    const withoutSurvey = { survey_enabled: false, ask_variables_on_launch: true };
    await test.as.superuser.patch(`job_templates/${asked.id}/`, withoutSurvey).expect(200);
    await advance();
    for (const id of ids) {
      const [job] = await childrenOf(id);
      expect(JSON.parse(String(job!.extra_vars))).toEqual({ token: '$encrypted$' });
      expect(openSecrets(box, job!.id, job!.launch_config as object)).toEqual({
        token: 'canary-word',
      });
    }
  });

  it('is started once by simultaneous workers', async () => {
    const id = await launch([node(), node(), node()]);
    await Promise.all([advance(), advance(), advance()]);
    const { rows } = (await test.database.row<{ rows: number }>(sql`
      SELECT count(*)::int AS rows FROM unified_jobs
      WHERE launch_type = 'workflow' AND status = 'pending'`))!;
    expect(rows).toBe(3);
    expect(await childrenOf(id)).toHaveLength(3);
  });

  it('starts a hundred nodes with as many statements as one', async () => {
    await launch([node()]);
    const one = await countQueries(test.database, advance);
    await launch(Array.from({ length: 100 }, () => node()));
    await launch([node()]);
    expect(await countQueries(test.database, advance)).toBe(one);
  });
});
