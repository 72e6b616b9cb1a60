import { SecretBox } from '../../src/common/crypto/secret-box.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { openSecrets } from '../../src/prompts/launch-secrets.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { workflowEngine } from '../support/workflow-engine.js';

let test: TestApp;
let advance: () => Promise<boolean>;
let inventory: Row;

beforeAll(async () => {
  test = await boot();
  ({ advance } = workflowEngine(test));
  inventory = await test.make.inventory({ organization: test.home.organization.id });
  await test.make.hosts(inventory, 5);
});
afterAll(() => test.close());

const sliced = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, job_slice_count: 2, ...fields });
const launch = async ({ id }: Row, body: object = {}): Promise<Row> =>
  (await test.as.superuser.post(`job_templates/${id}/launch/`, body).expect(201)).body as Row;
const childrenOf = (id: number): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT j.* FROM workflow_job_nodes n JOIN unified_jobs j ON j.id = n.job_id
    WHERE n.workflow_job_id = ${id} ORDER BY n.id`);
const statusOf = async (id: number): Promise<unknown> =>
  (await test.database.row<Row>(sql`SELECT status FROM unified_jobs WHERE id = ${id}`))!.status;

it('a sliced launch creates a job for each slice, and all run in parallel', async () => {
  const template = await sliced({
    job_slice_count: 3,
    extra_vars: 'a: 1\nb: 1',
    ask_variables_on_launch: true,
    ask_verbosity_on_launch: true,
    ask_limit_on_launch: true,
  });
  const parent = await launch(template, { extra_vars: { b: 2 }, verbosity: 3, limit: 'all' });
  await advance();
  expect(await statusOf(parent.id)).toBe('running');
  const children = await childrenOf(parent.id);
  expect(children.map((job) => [job.job_slice_number, job.job_slice_count])).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  for (const job of children) {
    expect(job).toMatchObject({
      type: 'job',
      status: 'pending',
      launch_type: 'workflow',
      job_template_id: template.id,
      allow_simultaneous: true,
      verbosity: 3,
      limit: 'all',
      inventory_id: inventory.id,
    });
    expect(JSON.parse(String(job.extra_vars))).toEqual({ a: 1, b: 2 });
  }
  const transitions = test.app.get(RunTransitions, { strict: false });
  const ids = children.map(({ id }) => id);
  await transitions.move(ids, { from: ['pending'], to: 'waiting' });
  await transitions.move(ids, { from: ['waiting'], to: 'running' });
  await transitions.move(ids.slice(0, 2), { from: ['running'], to: 'successful' });
  await advance();
  expect(await statusOf(parent.id)).toBe('running');
  await transitions.move(ids.slice(2), { from: ['running'], to: 'failed' });
  await advance();
  expect(await statusOf(parent.id)).toBe('failed');
});

it('a second launch of the template waits for the first', async () => {
  const template = await sliced();
  const [first, second] = [await launch(template), await launch(template)];
  await advance();
  expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['running', 'pending']);
});

it('secret answers are passed to every slice in encrypted form', async () => {
  const template = await sliced({ survey_enabled: true });
  const question = { type: 'password', variable: 'token', question_name: 'T', required: true };
  await test.as.superuser
    .post(`job_templates/${template.id}/survey_spec/`, {
      name: '',
      description: '',
      spec: [{ ...question, min: 0, max: 99, default: '' }],
    })
    .expect(200);
  const parent = await launch(template, { extra_vars: { token: 'canary-word' } });
  expect(JSON.parse(String(parent.extra_vars))).toEqual({ token: '$encrypted$' });
  await advance();
  const box = test.app.get(SecretBox, { strict: false });
  for (const job of await childrenOf(parent.id)) {
    expect(job.extra_vars).toBe('{"token": "$encrypted$"}');
    expect(JSON.stringify(job)).not.toContain('canary-word');
    expect(openSecrets(box, job.id, job.launch_config as object)).toEqual({ token: 'canary-word' });
  }
});

it('notifications are sent for the slices, and not for the workflow job', async () => {
  const { make, home, database, as } = test;
  const template = await sliced();
  const channel = await make.notificationTemplate({ organization: home.organization.id });
  await as.superuser
    .post(`job_templates/${template.id}/notification_templates_started/`, { id: channel.id })
    .expect(204);
  const parent = await launch(template);
  await advance();
  const children = (await childrenOf(parent.id)).map(({ id }) => id);
  const transitions = test.app.get(RunTransitions, { strict: false });
  await transitions.move(children, { from: ['pending'], to: 'waiting' });
  await transitions.move(children, { from: ['waiting'], to: 'running' });
  const rows = await database.rows<Row>(sql`
    SELECT unified_job_id AS id FROM notifications
    WHERE notification_template_id = ${channel.id} ORDER BY 1`);
  expect(rows.map(({ id }) => id)).toEqual(children);
});

it('a sliced template is an inner workflow job in a workflow or bulk launch', async () => {
  const { make, as, home } = test;
  const template = await sliced();
  const workflow = await make.workflowTemplate({ organization: home.organization.id });
  await make.workflowNode(workflow, { unified_job_template: template.id });
  const led = await as.superuser
    .post(`workflow_job_templates/${workflow.id}/launch/`, {})
    .expect(201);
  const bulk = await as.superuser
    .post('bulk/job_launch/', { name: 'x', jobs: [{ unified_job_template: template.id }] })
    .expect(201);
  await advance();
  for (const outer of [led.body.id, bulk.body.id] as number[]) {
    const [inner] = await childrenOf(outer);
    expect(inner).toMatchObject({
      type: 'workflow_job',
      is_sliced_job: true,
      launch_type: 'workflow',
      job_template_id: template.id,
    });
  }
});

it('a slice is relaunched as the same slice', async () => {
  const template = await sliced();
  const parent = await launch(template);
  await advance();
  const [, second] = await childrenOf(parent.id);
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = 'successful', finished = now() WHERE id = ${second!.id}`);
  const { body } = await test.as.superuser.post(`jobs/${second!.id}/relaunch/`, {}).expect(201);
  expect(body).toMatchObject({ type: 'job', job_slice_number: 2, job_slice_count: 2 });
});
