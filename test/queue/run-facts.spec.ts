import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { contextOf } from '../../src/notifications/message/context.js';
import { eventOf, type MessageEvent } from '../../src/notifications/message/message-events.js';
import { RunFactsLoader } from '../../src/notifications/run-facts.loader.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';

let test: TestApp;
let worker: INestApplicationContext;
let loader: RunFactsLoader;
let jobTemplate: Row;

beforeAll(async () => {
  test = await boot({ settings: { BASE_URL: 'https://controller.example' } });
  worker = await bootWorker(test);
  loader = worker.get(RunFactsLoader);
  const project = await test.make.project({ organization: test.home.organization.id });
  jobTemplate = await test.make.jobTemplate({ project: project.id });
});
afterAll(async () => {
  await worker.close();
  await test.close();
});
afterEach(() => jest.restoreAllMocks());

const event = (name: string): MessageEvent => eventOf(name)!;

async function run(type: string, name: string, around: number | null = null): Promise<number> {
  const template = type === 'job' ? jobTemplate : null;
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      project_id, organization_id, workflow_job_id, extra_vars, result_traceback, started, finished)
    VALUES (${type}, ${name}, 'failed', ${template?.id ?? null}, ${template?.id ?? null},
      ${jobTemplate.project_id}, ${test.home.organization.id}, ${around}, '{"a": 1}',
      'Traceback', now(), now()) RETURNING id`);
  const { id } = row!;
  if (type === 'job') {
    await test.database.execute(sql`
      INSERT INTO job_host_summaries (job_id, host_name, ok) VALUES (${id}, ${`host of ${name}`}, 1)`);
  }
  if (around !== null) {
    await test.database.execute(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, job_id, identifier)
      VALUES (${around}, ${id}, ${name})`);
  }
  return id;
}

it('facts of several runs equal those of single runs', async () => {
  const workflow = await run('workflow_job', 'flow');
  const further = await run('workflow_job', 'other flow');
  const wants: [number, string][] = [
    [await run('job', 'one'), 'error'],
    [await run('job', 'two', further), 'started'],
    [workflow, 'error'],
    [await run('project_update', 'update'), 'error'],
    [await run('workflow_approval', 'gate', workflow), 'workflow_approval.denied'],
    [further, 'started'],
    [2_000_000_000, 'error'],
  ];
  const together = await Promise.all(wants.map(([id, name]) => loader.load(id, event(name))));
  for (const [index, [id, name]] of wants.entries()) {
    expect(together[index]).toEqual(await loader.load(id, event(name)));
  }
  const [one, two, flow, update, gate, other, none] = together;
  expect(one).toMatchObject({
    representation: { name: 'one' },
    hosts: { 'host of one': { ok: 1 } },
  });
  expect(two).toMatchObject({ representation: { name: 'two', status: 'running' }, hosts: {} });
  expect(flow).toMatchObject({ kind: 'workflow_job', nodes: [{ job: { name: 'gate' } }] });
  expect(update).toMatchObject({ kind: 'project_update', hosts: null });
  expect(gate).toMatchObject({ representation: { id: workflow }, approval: { nodeName: 'gate' } });
  expect(other).toMatchObject({ representation: { name: 'other flow' }, nodes: [] });
  expect(none).toBeNull();
});

it('facts of a start contain nothing from later', async () => {
  const id = await run('job', 'late');
  await test.database.execute(sql`
    UPDATE unified_jobs SET artifacts = '{"made": "at the end"}' WHERE id = ${id}`);
  const facts = await loader.load(id, event('started'));
  const context = contextOf(facts!);
  expect(JSON.parse(String(context.job_metadata))).toMatchObject({ traceback: '', finished: null });
  expect(context.job).toMatchObject({ artifacts: {}, status: 'running' });
});

it.each([
  ['workflow_job', 'Workflow Job'],
  // Of a change from a fork.
  ['job', 'Job'],
])('facts of an approval contain the waiting %s and its id', async (type, friendlyName) => {
  const waiting = await run(type, 'flow');
  const gate = await run('workflow_approval', 'gate', waiting);
  const facts = await loader.load(gate, event('workflow_approval.running'));
  expect(contextOf(facts!)).toMatchObject({
    job_friendly_name: friendlyName,
    job: { id: waiting, name: 'flow' },
    approval_node_name: 'gate',
  });
});

it('facts of a deleted run are omitted, without effect on others', async () => {
  const id = await run('job', 'gone');
  const other = await run('job', 'stays');
  const database = worker.get(Database);
  const read = database.preparedRows.bind(database);
  jest.spyOn(database, 'preparedRows').mockImplementationOnce(async (statement) => {
    const found = await read<Row>(statement);
    await test.database.execute(sql`DELETE FROM unified_jobs WHERE id = ${id}`);
    return found as never;
  });
  const both = [id, other].map((each) => loader.load(each, event('error')));
  const [gone, stays] = await Promise.allSettled(both);
  expect(gone).toMatchObject({ status: 'fulfilled' });
  expect(stays).toMatchObject({
    value: { representation: { name: 'stays' }, hosts: { 'host of stays': { ok: 1 } } },
  });
  await expect(loader.load(id, event('error'))).resolves.toBeNull();
});
