import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { boot, type TestApp } from '../support/boot.js';
import { COMMITS } from '../support/payloads/sample.js';
import { deliveryHeaders, firstSample, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { addHook, type Hook } from '../support/webhooks.js';
import { WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const armedWorkflow = async (service: WebhookServiceName, fields: object = {}): Promise<Hook> => {
  const organization = test.home.organization.id;
  return addHook(test, await test.make.workflowTemplate({ organization, ...fields }), service);
};
const runOf = async (id: number): Promise<Row> =>
  (await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`))!;

describe.each(SERVICE_ROWS)('the receiver of %s', (service) => {
  it('launches a workflow job with the webhook variables, once for each delivery', async () => {
    const hook = await armedWorkflow(service);
    await test.make.workflowNode(hook.template, { identifier: 'n' });
    const delivery = randomUUID();
    const answer = await hook.send(firstSample(service), { delivery }).expect(202);
    const { job, delivery: record } = answer.body as { job: number; delivery: number };
    const url = `/api/v2/workflow_jobs/${job}/`;
    expect(answer.body).toEqual({ message: 'Job queued.', delivery: record, job, url });
    expect(await runOf(job)).toMatchObject({
      type: 'workflow_job',
      status: 'pending',
      launch_type: 'webhook',
      created_by_id: null,
      unified_job_template_id: hook.template.id,
      webhook_service: service,
      webhook_guid: delivery,
      webhook_delivery_id: record,
    });
    const { body: nodes } = await test.as.orgAdmin.get(`${url}workflow_nodes/`).expect(200);
    expect(nodes.count).toBe(1);
    const again = await hook.send(firstSample(service), { delivery }).expect(202);
    expect(again.body).toMatchObject({
      message: 'Webhook previously received, aborting.',
      job,
      url,
    });
    expect(await hook.jobs()).toHaveLength(1);
  });

  it('does not accept job templates, and vice versa', async () => {
    const hook = await armedWorkflow(service);
    const other = await addHook(test, await test.make.jobTemplate(), service);
    const swapped = (path: string): string =>
      path.replace(/(workflow_)?job_templates/, (word) =>
        word.startsWith('workflow') ? 'job_templates' : 'workflow_job_templates',
      );
    for (const one of [hook, other]) {
      const { payload, event } = firstSample(service);
      const rawBody = Buffer.from(JSON.stringify(payload));
      const headers = deliveryHeaders(service, event, rawBody, one.key, { delivery: randomUUID() });
      await one.post(rawBody, headers, swapped(one.path())).expect(403);
    }
  });
});

it('the variables of the event are shown, and passed to every run', async () => {
  const { as, make } = test;
  const runs = new WorkflowRuns(test);
  const inner = await runs.template({
    deep: { unified_job_template: (await make.jobTemplate()).id },
  });
  const workflow = await runs.template({
    job: { unified_job_template: (await make.jobTemplate()).id },
    flow: { unified_job_template: inner.id },
  });
  const hook = await addHook(test, workflow, 'service_a');
  const { body } = await hook.send(firstSample('service_a')).expect(202);
  await runs.settle();
  const flow = (await runs.runOf(body.job, 'flow'))!;
  const shown = async (url: string): Promise<Record<string, unknown>> =>
    JSON.parse((await as.superuser.get(url).expect(200)).body.extra_vars);
  const urls = [
    body.url,
    `jobs/${(await runs.runOf(body.job, 'job'))!.id}/`,
    `workflow_jobs/${flow.id}/`,
    `jobs/${(await runs.runOf(flow.id, 'deep'))!.id}/`,
  ];
  for (const url of urls) {
    expect(await shown(url)).toMatchObject({
      svc_webhook_event_type: 'push',
      svc_webhook_event_ref: COMMITS.after,
      svc_webhook_payload: expect.objectContaining({ after: COMMITS.after }),
    });
  }
  const { body: list } = await as.superuser.get(`workflow_jobs/?id=${body.job}`).expect(200);
  const listed = JSON.parse(list.results[0].extra_vars);
  expect(listed).toHaveProperty('svc_webhook_event_type');
  expect(listed).not.toHaveProperty('svc_webhook_payload');
});

it('the ref of the event is used if the workflow prompts for a branch', async () => {
  const asking = await armedWorkflow('service_a', { ask_scm_branch_on_launch: true });
  const silent = await armedWorkflow('service_a');
  for (const [hook, branch] of [
    [asking, COMMITS.after],
    [silent, null],
  ] as const) {
    const { body } = await hook.send(firstSample('service_a')).expect(202);
    expect((await runOf(body.job)).scm_branch).toBe(branch);
  }
});

it('a workflow that cannot be launched is explained, and accepts the delivery later', async () => {
  const hook = await armedWorkflow('service_a');
  const spec = [{ question_name: 'Q', variable: 'q', type: 'text', required: true }];
  const url = `workflow_job_templates/${hook.template.id}/`;
  const survey = { name: '', description: '', spec };
  await test.as.superuser.post(`${url}survey_spec/`, survey).expect(200);
  await test.as.superuser.patch(url, { survey_enabled: true }).expect(200);
  const delivery = randomUUID();
  const refused = await hook.send(firstSample('service_a'), { delivery }).expect(400);
  expect(refused.body.detail).toContain("'q' value missing");
  await test.as.superuser.patch(url, { survey_enabled: false }).expect(200);
  await hook.send(firstSample('service_a'), { delivery }).expect(202);
});

it('deliveries are logged, filters are tested, and deliveries are sent again', async () => {
  const { as, make } = test;
  const hook = await armedWorkflow('service_a');
  const url = `workflow_job_templates/${hook.template.id}/`;
  const type = 'workflow_job_template';
  await make.grant(type, hook.template, 'read_role', { user: as.users.teamMember });
  await as.superuser.patch(url, { webhook_filters: { refs: ['nothing'] } }).expect(200);
  const ignored = await hook.send(firstSample('service_a')).expect(200);
  expect(ignored.body.message).toBe('Webhook ignored');
  const { body: list } = await as.teamMember.get(`${url}webhook_deliveries/`).expect(200);
  expect(list.results).toMatchObject([{ id: ignored.body.delivery, verdict: 'ignored' }]);
  const trial = await as.superuser
    .post(`${url}webhook_filters/test/`, { webhook_filters: {} })
    .expect(200);
  expect(trial.body).toMatchObject({ launches: 1, count: 1 });
  await as.superuser.patch(url, { webhook_filters: {} }).expect(200);
  const again = `${url}webhook_deliveries/${ignored.body.delivery}/redeliver/`;
  await as.teamMember.post(again).expect(403);
  const { body } = await as.superuser.post(again).expect(202);
  expect(body.url).toBe(`/api/v2/workflow_jobs/${body.job}/`);
  expect(await runOf(body.job)).toMatchObject({
    type: 'workflow_job',
    webhook_service: 'service_a',
  });
});
