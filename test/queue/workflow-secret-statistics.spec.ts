import { SecretBox } from '../../src/common/crypto/secret-box.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql, type Sql } from '../../src/database/sql.js';
import { openSecrets } from '../../src/prompts/launch-secrets.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { WorkflowGraphsRepository } from '../../src/workflows/workflow-graphs.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { variablesOf, WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
let runs: WorkflowRuns;
let template: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  template = await test.make.jobTemplate({
    organization: test.home.organization.id,
    allow_simultaneous: true,
  });
});
afterAll(() => test.close());

const ran = () => ({ unified_job_template: template.id });

/** Ends a run with columns that no worker would store. */
async function endWith({ id }: Row, columns: Sql): Promise<void> {
  await test.database.execute(sql`
    UPDATE unified_jobs SET ${columns}, status = 'running' WHERE id = ${id}`);
  await test.app
    .get(RunTransitions, { strict: false })
    .move([id], { from: ['running'], to: 'successful' });
  await runs.settle();
}

describe('statistics set under no_log', () => {
  const secretsOf = (job: Row) =>
    openSecrets(
      test.app.get(SecretBox, { strict: false }),
      job.id,
      job.launch_config as object | null,
    );

  it('have normal precedence, and the final value decides whether a name is secret', async () => {
    const workflow = await runs.template(
      { first: ran(), second: ran(), third: ran(), fourth: ran() },
      [
        ['first', 'success', 'third'],
        ['second', 'success', 'third'],
        ['third', 'success', 'fourth'],
      ],
      { extra_vars: '{"own": "of the workflow"}' },
    );
    const id = await runs.launch(workflow);
    const secret = { a: 'canary-a', b: 'canary-b', own: 'canary-own' };
    await runs.end(id, 'second', 'successful', { b: 'open b' });
    await runs.end(id, 'first', 'successful', {}, secret);
    const third = (await runs.runOf(id, 'third'))!;
    const shown = { own: 'of the workflow', a: '$encrypted$', b: 'open b' };
    expect(variablesOf(third)).toEqual(shown);
    expect(secretsOf(third)).toEqual({ a: 'canary-a' });
    await runs.end(id, 'third', 'successful', {}, { b: 'canary-c' });
    const fourth = (await runs.runOf(id, 'fourth'))!;
    expect(variablesOf(fourth)).toEqual({ ...shown, b: '$encrypted$' });
    expect(secretsOf(fourth)).toEqual({ a: 'canary-a', b: 'canary-c' });
    const rows = await test.database.rows(sql`
      SELECT to_json(node)::text || to_json(run)::text AS text FROM workflow_job_nodes node
      JOIN unified_jobs run ON run.id = node.job_id WHERE node.workflow_job_id = ${id}`);
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  it('fail the node that cannot receive them, with an explanation, and no other', async () => {
    const workflow = await runs.template({ one: ran(), two: ran(), rescue: ran() }, [
      ['one', 'success', 'two'],
      ['two', 'failure', 'rescue'],
    ]);
    const id = await runs.launch(workflow);
    const one = (await runs.runOf(id, 'one'))!;
    await endWith(one, sql`secret_artifacts = 'no seal'`);
    expect(await runs.runOf(id, 'two')).toMatchObject({
      status: 'failed',
      job_explanation:
        'The secret statistics of the parent nodes cannot be decrypted with the current keys.',
    });
    await runs.end(id, 'rescue', 'successful');
    expect((await runs.run(id)).status).toBe('successful');
  });

  it('end a nested workflow that cannot pass them on', async () => {
    const inner = await runs.template({ one: ran() });
    const outer = await runs.template({ nested: { unified_job_template: inner.id } });
    const id = await runs.launch(outer);
    await runs.settle();
    const nested = (await runs.runOf(id, 'nested'))!;
    const one = (await runs.runOf(nested.id, 'one'))!;
    await endWith(one, sql`secret_artifacts = 'no seal'`);
    expect(await runs.run(nested.id)).toMatchObject({
      status: 'error',
      job_explanation:
        'The secret variables of this workflow cannot be decrypted with the current keys.',
    });
    expect((await runs.run(id)).status).toBe('failed');
  });
});

it('statistics that grow too large along a path fail the node that would receive them', async () => {
  const workflow = await runs.template({ one: ran(), two: ran(), three: ran(), rescue: ran() }, [
    ['one', 'success', 'two'],
    ['two', 'success', 'three'],
    ['three', 'failure', 'rescue'],
  ]);
  const id = await runs.launch(workflow);
  await runs.end(id, 'one', 'successful', { one: 'x'.repeat(990_000) }, { b: 'x'.repeat(60_000) });
  await runs.end(id, 'two', 'successful', { two: 'x'.repeat(990_000) });
  expect(await runs.runOf(id, 'three')).toMatchObject({
    status: 'failed',
    job_explanation:
      'The values of set_stats of the earlier nodes are together larger than 2000000 bytes.',
  });
  expect(variablesOf(await runs.runOf(id, 'rescue'))).toEqual({});
});

it('statistics of a nested workflow that are too large together are not passed on', async () => {
  const inner = await runs.template({ one: ran(), two: ran(), three: ran() });
  const outer = await runs.template({ nested: { unified_job_template: inner.id }, after: ran() }, [
    ['nested', 'success', 'after'],
  ]);
  const id = await runs.launch(outer);
  await runs.settle();
  const nested = (await runs.runOf(id, 'nested'))!;
  for (const name of ['one', 'two', 'three']) {
    await runs.end(nested.id, name, 'successful', { [name]: 'x'.repeat(700_000) });
  }
  expect(await runs.run(nested.id)).toMatchObject({
    status: 'successful',
    artifacts: {},
    job_explanation: 'The values of set_stats are larger than 2000000 bytes and are not kept.',
  });
  expect(variablesOf(await runs.runOf(id, 'after'))).toEqual({});
});

it('statistics that are too large to be read together are read one after the other', async () => {
  const workflow = await runs.template({ one: ran(), a: ran(), b: ran() }, [
    ['one', 'success', 'a'],
    ['one', 'success', 'b'],
  ]);
  const id = await runs.launch(workflow);
  const one = (await runs.runOf(id, 'one'))!;
  const graphs = test.app.get(WorkflowGraphsRepository, { strict: false });
  const starting = jest.spyOn(graphs, 'starting');
  await endWith(one, sql`artifacts = json_build_object('x', repeat('x', 31000000))`);
  expect(starting.mock.calls.map(([ids]) => ids.length)).toEqual([2, 1]);
  for (const name of ['a', 'b']) expect((await runs.runOf(id, name))?.status).toBe('failed');
});
