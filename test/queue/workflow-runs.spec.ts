import { SecretBox } from '../../src/common/crypto/secret-box.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { openSecrets } from '../../src/prompts/launch-secrets.js';
import { boot, type TestApp } from '../support/boot.js';
import { LOST_SURVEY } from '../support/lost-key.js';
import { variablesOf, WorkflowRuns, type Edge } from '../support/workflow-templates.js';

let test: TestApp;
let runs: WorkflowRuns;
/** Template with prompts for variables and a limit. */
let open: Row;
/** Template without prompts. */
let closed: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  const organization = test.home.organization.id;
  const project = (await test.make.project({ organization })).id;
  const inventory = (await test.make.inventory({ organization })).id;
  const common = { project, inventory, allow_simultaneous: true };
  open = await test.make.jobTemplate({
    ...common,
    ask_variables_on_launch: true,
    ask_limit_on_launch: true,
  });
  closed = await test.make.jobTemplate({ ...common, extra_vars: '{"own": "template"}' });
});
afterAll(() => test.close());

const ran = () => ({ unified_job_template: open.id });

it('a workflow runs the matching paths, and names failures without a failure edge', async () => {
  const workflow = await runs.template(
    { build: ran(), repair: ran(), deploy: ran(), clean: ran() },
    [
      ['build', 'failure', 'repair'],
      ['build', 'success', 'deploy'],
      ['repair', 'always', 'clean'],
    ],
  );
  const id = await runs.launch(workflow);
  expect(await runs.run(id)).toMatchObject({ status: 'running', launch_type: 'manual' });
  await runs.end(id, 'build', 'failed');
  await runs.end(id, 'repair', 'successful');
  expect(await runs.runOf(id, 'deploy')).toBeUndefined();
  await runs.end(id, 'clean', 'error');
  expect(await runs.outcomes(id)).toEqual({
    build: 'failed',
    repair: 'successful',
    deploy: 'skipped',
    clean: 'error',
  });
  expect(await runs.run(id)).toMatchObject({
    status: 'failed',
    job_explanation: 'No error handling paths found, marking workflow as failed: clean',
  });
});

describe('variables', () => {
  it('of nodes override artifacts, which override those of the workflow', async () => {
    const workflow = await runs.template(
      {
        first: ran(),
        second: ran(),
        third: { ...ran(), extra_data: { node: 1, artifact: 'node', workflow: 'node' } },
      },
      [
        ['first', 'success', 'third'],
        ['second', 'success', 'third'],
      ],
      { extra_vars: '{"workflow": "own"}' },
    );
    const id = await runs.launch(workflow);
    expect(variablesOf(await runs.runOf(id, 'first'))).toEqual({ workflow: 'own' });
    await runs.end(id, 'second', 'successful', { artifact: 'second', later: true });
    await runs.end(id, 'first', 'successful', { artifact: 'first', workflow: 'artifact' });
    expect(variablesOf(await runs.runOf(id, 'third'))).toEqual({
      node: 1,
      // The later parent's.
      artifact: 'second',
      later: true,
      workflow: 'own',
    });
  });

  it('reach jobs whose template accepts none, and artifacts reach all descendants', async () => {
    const workflow = await runs.template(
      { first: ran(), second: ran(), third: { unified_job_template: closed.id } },
      [
        ['first', 'success', 'second'],
        ['second', 'failure', 'third'],
      ],
      { extra_vars: '{"size": 2}' },
    );
    const id = await runs.launch(workflow);
    await runs.end(id, 'first', 'successful', { build: 7 });
    await runs.end(id, 'second', 'failed');
    expect(variablesOf(await runs.runOf(id, 'third'))).toEqual({
      own: 'template',
      size: 2,
      build: 7,
    });
  });

  it('stay secret between nodes', async () => {
    const workflow = await runs.template({ only: ran() }, [], { survey_enabled: true });
    const question = { type: 'password', variable: 'token', question_name: 'T', required: true };
    const spec = [{ ...question, min: 0, max: 99, default: '' }];
    await test.as.superuser
      .post(`workflow_job_templates/${workflow.id}/survey_spec/`, {
        name: '',
        description: '',
        spec,
      })
      .expect(200);
    const id = await runs.launch(workflow, { extra_vars: { token: 'canary-word' } });
    const job = (await runs.runOf(id, 'only'))!;
    expect(variablesOf(job)).toEqual({ token: '$encrypted$' });
    const box = test.app.get(SecretBox, { strict: false });
    expect(openSecrets(box, job.id, job.launch_config as object)).toEqual({ token: 'canary-word' });
    expect(JSON.stringify([await runs.run(id), job])).not.toContain('canary-word');
    // Launched again on its own, the job keeps the secret.
    await runs.end(id, 'only', 'successful');
    const { body } = await test.as.superuser.post(`jobs/${job.id}/relaunch/`, {}).expect(201);
    expect(variablesOf(body)).toEqual({ token: '$encrypted$' });
    expect(JSON.stringify(await runs.run(body.id as number))).not.toContain('canary-word');
  });
});

it('prompts of the workflow override those of its nodes if the template accepts them', async () => {
  const workflow = await runs.template(
    { asked: { ...ran(), limit: 'node' }, unasked: { unified_job_template: closed.id } },
    [],
    { limit: 'all', ask_limit_on_launch: true, allow_simultaneous: true },
  );
  const first = await runs.launch(workflow);
  expect(await runs.runOf(first, 'asked')).toMatchObject({ limit: 'all' });
  expect(await runs.runOf(first, 'unasked')).toMatchObject({ limit: '' });
  const second = await runs.launch(workflow, { limit: 'launch' });
  expect(await runs.runOf(second, 'asked')).toMatchObject({ limit: 'launch' });
});

describe('a workflow in a workflow', () => {
  it('shows its launcher and its outer workflow at every depth', async () => {
    const inner = await runs.template({ one: ran() });
    const outer = await runs.template({ nested: { unified_job_template: inner.id } });
    const id = await runs.launch(outer);
    await runs.settle();
    const nested = (await runs.runOf(id, 'nested'))!;
    const job = (await runs.runOf(nested.id, 'one'))!;
    const shown = async () =>
      (await test.as.superuser.get(`jobs/${job.id}/`).expect(200)).body as Row;
    expect(await shown()).toMatchObject({
      launched_by: { name: 'superuser', type: 'user' },
      related: { source_workflow_job: `/api/v2/workflow_jobs/${nested.id}/` },
      summary_fields: { source_workflow_job: { id: nested.id, name: inner.name } },
    });
    // Columns of a run that an event launches.
    await test.database.execute(sql`
      UPDATE unified_jobs SET created_by_id = NULL,
        launch_type = CASE WHEN id = ${id} THEN 'webhook' ELSE launch_type END
      WHERE id IN (${id}, ${nested.id}, ${job.id})`);
    expect((await shown()).launched_by).toMatchObject({
      id: outer.id,
      type: 'workflow_job_template',
      url: `/api/v2/workflow_job_templates/${outer.id}/`,
    });
    await runs.end(nested.id, 'one', 'successful');
  });

  it('runs as a node, with variables from the outer workflow and artifacts for it', async () => {
    const inner = await runs.template({ one: ran(), two: ran() }, [['one', 'success', 'two']]);
    const outer = await runs.template(
      { before: ran(), nested: { unified_job_template: inner.id }, after: ran() },
      [
        ['before', 'success', 'nested'],
        ['nested', 'success', 'after'],
      ],
      { extra_vars: '{"from": "outer"}' },
    );
    const id = await runs.launch(outer);
    await runs.end(id, 'before', 'successful', { build: 1 });
    const nested = (await runs.runOf(id, 'nested'))!;
    expect(nested).toMatchObject({
      type: 'workflow_job',
      status: 'running',
      launch_type: 'workflow',
      unified_job_template_id: inner.id,
    });
    expect(variablesOf(await runs.runOf(nested.id, 'one'))).toEqual({ from: 'outer', build: 1 });
    await runs.end(nested.id, 'one', 'successful', { inside: 'one' });
    await runs.end(nested.id, 'two', 'successful', { inside: 'two' });
    expect((await runs.run(nested.id)).status).toBe('successful');
    expect(variablesOf(await runs.runOf(id, 'after'))).toEqual({
      from: 'outer',
      build: 1,
      inside: 'two',
    });
    const { body } = await test.as.superuser.get(`workflow_jobs/${nested.id}/`).expect(200);
    expect(body).toMatchObject({
      related: { source_workflow_job: `/api/v2/workflow_jobs/${id}/` },
      summary_fields: { source_workflow_job: { id, name: outer.name, status: 'running' } },
    });
    await runs.end(id, 'after', 'successful');
    expect((await runs.run(id)).status).toBe('successful');
  });

  it('uses the artifacts of the nearest run at any depth, and its own variables first', async () => {
    const two: Edge = ['one', 'success', 'two'];
    const innermost = await runs.template({ one: ran(), two: ran() }, [two]);
    const inner = await runs.template(
      { one: ran(), two: { unified_job_template: innermost.id }, three: ran() },
      [two, ['two', 'success', 'three']],
      { ask_variables_on_launch: true },
    );
    const outer = await runs.template(
      { one: ran(), two: { unified_job_template: inner.id, extra_data: { node: 'own' } } },
      [two],
      { extra_vars: '{"workflow": "own"}' },
    );
    const id = await runs.launch(outer);
    await runs.end(id, 'one', 'successful', { x: 1, y: 1, node: 1, workflow: 1 });
    const middle = (await runs.runOf(id, 'two'))!.id;
    expect(variablesOf(await runs.runOf(middle, 'one'))).toMatchObject({ x: 1, y: 1 });
    await runs.end(middle, 'one', 'successful', { x: 2, workflow: 2 });
    const last = (await runs.runOf(middle, 'two'))!.id;
    await runs.end(last, 'one', 'successful', { x: 3 });
    expect(variablesOf(await runs.runOf(last, 'two'))).toEqual({
      x: 3,
      y: 1,
      node: 1,
      workflow: 'own',
    });
    await runs.end(last, 'two', 'successful');
    expect(variablesOf(await runs.runOf(middle, 'three'))).toMatchObject({ x: 3, y: 1 });
    await runs.end(middle, 'three', 'failed');
    const again = await test.as.superuser.post(`workflow_jobs/${last}/relaunch/`, {}).expect(201);
    await runs.settle();
    await runs.end(again.body.id as number, 'one', 'successful', { x: 4 });
    expect(variablesOf(await runs.runOf(again.body.id as number, 'two'))).toMatchObject({ x: 4 });
  });

  it('prefers an artifact of a parent to that of its ancestors on another path', async () => {
    const workflow = await runs.template({ start: ran(), left: ran(), right: ran(), end: ran() }, [
      ['start', 'success', 'left'],
      ['start', 'success', 'right'],
      ['left', 'success', 'end'],
      ['right', 'success', 'end'],
    ]);
    const id = await runs.launch(workflow);
    await runs.end(id, 'start', 'successful', { x: 1 });
    await runs.end(id, 'left', 'successful', { x: 2 });
    await runs.end(id, 'right', 'successful');
    expect(variablesOf(await runs.runOf(id, 'end'))).toEqual({ x: 2 });
  });

  it('fails instead of running inside itself', async () => {
    const inner = await runs.template({ one: ran() });
    const outer = await runs.template({ nested: { unified_job_template: inner.id } });
    // Refused at save; an older installation may have it.
    await test.database.execute(sql`
      UPDATE workflow_job_template_nodes SET unified_job_template_id = ${outer.id}
      WHERE workflow_job_template_id = ${inner.id}`);
    const id = await runs.launch(outer);
    await runs.settle();
    const nested = (await runs.runOf(id, 'nested'))!;
    const again = (await runs.runOf(nested.id, 'one'))!;
    const named = [outer, inner, outer].map((one) => `<${String(one.name)}-${one.id}>`).join(', ');
    expect(again).toMatchObject({
      type: 'workflow_job',
      status: 'failed',
      job_explanation:
        'Workflow Job spawned from workflow could not start because it would result in ' +
        `recursion (spawn order, most recent first: ${named})`,
    });
    expect(await runs.outcomes(again.id)).toEqual({ nested: 'skipped' });
    expect((await runs.run(nested.id)).status).toBe('failed');
    expect((await runs.run(id)).status).toBe('failed');
  });

  it('is canceled with its runs', async () => {
    const inner = await runs.template({ one: ran(), later: ran() }, [['one', 'always', 'later']]);
    const outer = await runs.template(
      { nested: { unified_job_template: inner.id }, wait: { approval: {} }, never: ran() },
      [['nested', 'always', 'never']],
    );
    const id = await runs.launch(outer);
    await runs.settle();
    const nested = (await runs.runOf(id, 'nested'))!;
    await test.as.superuser.post(`workflow_jobs/${id}/cancel/`, {}).expect(202);
    await runs.settle();
    expect((await runs.runOf(nested.id, 'one'))!.status).toBe('canceled');
    expect(await runs.outcomes(nested.id)).toEqual({ one: 'canceled', later: 'skipped' });
    expect(await runs.outcomes(id)).toEqual({
      nested: 'canceled',
      wait: 'canceled',
      never: 'skipped',
    });
    expect((await runs.run(id)).status).toBe('canceled');
  });
});

it('a canceled run leads to the failure path', async () => {
  const workflow = await runs.template({ one: ran(), rescue: ran() }, [
    ['one', 'failure', 'rescue'],
  ]);
  const id = await runs.launch(workflow);
  const job = (await runs.runOf(id, 'one'))!;
  await test.as.superuser.post(`jobs/${job.id}/cancel/`, {}).expect(202);
  await runs.settle();
  await runs.end(id, 'rescue', 'successful');
  expect((await runs.run(id)).status).toBe('successful');
});

it('nodes of a workflow job that is canceled before its start are marked', async () => {
  const workflow = await runs.template({ one: ran() });
  const id = await runs.queue(workflow);
  await test.as.superuser.post(`workflow_jobs/${id}/cancel/`, {}).expect(202);
  expect((await runs.run(id)).status).toBe('canceled');
  expect(await runs.outcomes(id)).toEqual({ one: 'skipped' });
  await runs.settle();
  expect(await runs.runOf(id, 'one')).toBeUndefined();
});

it('a workflow waits for the other run of its template unless both allow parallel runs', async () => {
  const alone = await runs.template({ one: ran() });
  const first = await runs.launch(alone);
  const second = await runs.launch(alone);
  const third = await runs.launch(alone);
  expect((await runs.run(second)).status).toBe('pending');
  await runs.explain();
  expect((await runs.run(second)).job_explanation).toBe('');
  await test.database.execute(sql`
    UPDATE unified_jobs SET created = created - interval '1 minute' WHERE id = ${second}`);
  await runs.explain();
  const waits = `waiting for workflow_job-${first} to finish`;
  expect((await runs.run(second)).job_explanation).toBe(waits);
  await runs.end(first, 'one', 'successful');
  expect(await runs.run(second)).toMatchObject({ status: 'running', job_explanation: '' });
  expect((await runs.run(third)).status).toBe('pending');
  const together = await runs.template({ one: ran() }, [], { allow_simultaneous: true });
  await runs.launch(together);
  expect((await runs.run(await runs.launch(together))).status).toBe('running');
});

it('a job that could not start is shown, and leads to its failure path', async () => {
  const credential = await test.make.credential({
    organization: test.home.organization.id,
    inputs: { username: 'u', password: 'ASK' },
  });
  const asks = await test.make.jobTemplate({ allow_simultaneous: true });
  const workflow = await runs.template({ asks: { unified_job_template: asks.id }, rescue: ran() }, [
    ['asks', 'failure', 'rescue'],
  ]);
  // Attached after the node was created: creating the node would now be refused.
  await test.as.superuser
    .post(`job_templates/${asks.id}/credentials/`, { id: credential.id })
    .expect(204);
  const id = await runs.launch(workflow);
  const job = (await runs.runOf(id, 'asks'))!;
  expect(job).toMatchObject({ status: 'failed', type: 'job' });
  expect(job.job_explanation).toContain(
    'Job spawned from workflow could not start because it was not in the right state or ' +
      'required manual credentials',
  );
  await runs.settle();
  await runs.end(id, 'rescue', 'successful');
  expect((await runs.run(id)).status).toBe('successful');
});

it('a workflow with secrets that cannot be decrypted ends, and no other', async () => {
  const workflow = await runs.template({ one: ran() }, [], { allow_simultaneous: true });
  const broken = await runs.queue(workflow);
  await test.database.execute(sql`
    UPDATE unified_jobs SET launch_config = '{"survey_passwords": {"/a": "no seal"}}'
    WHERE id = ${broken}`);
  const sound = await runs.launch(workflow);
  expect(await runs.run(broken)).toMatchObject({
    status: 'error',
    job_explanation:
      'The secret variables of this workflow cannot be decrypted with the current keys.',
  });
  expect(await runs.outcomes(broken)).toEqual({ one: 'skipped' });
  expect((await runs.run(sound)).status).toBe('running');
});

it('a node with secrets of a lost key does not prevent other workflows from continuing', async () => {
  const lost = await test.make.jobTemplate({ survey_enabled: true });
  const broken = await runs.queue(
    await runs.template({ one: { unified_job_template: lost.id }, two: ran() }),
  );
  await test.database.execute(sql`
    UPDATE unified_job_templates SET survey_spec = ${LOST_SURVEY} WHERE id = ${lost.id}`);
  const sound = await runs.launch(await runs.template({ one: ran() }));
  expect(await runs.outcomes(broken)).toEqual({ one: 'missing', two: '' });
  expect((await runs.runOf(sound, 'one'))!.status).toBe('pending');
});
