/**
 * Events that outsiders can cause (changes from forks, captured bodies, connection tests) follow the fork
 * policy and launch nothing twice.
 */
import { randomUUID } from 'node:crypto';

import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, firstSample, webhookSample } from '../support/payloads/webhooks.js';
import { addHook, newHook, type Hook, type SentEvent } from '../support/webhooks.js';
import { WorkflowRuns } from '../support/workflow-templates.js';

type Json = Record<string, unknown>;

let test: TestApp;
let runs: WorkflowRuns;
beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
}, 60_000);
afterAll(() => test.close());

/** Returns a change event from the given source. */
function change(service: WebhookServiceName, from: unknown): SentEvent {
  const [event, fill] = {
    service_a: [
      'pull_request',
      {
        pull_request: {
          head: { sha: 'a'.repeat(40), ref: 'page', repo: from === null ? null : { id: from } },
          base: { repo: { id: 42 } },
        },
      },
    ],
    service_b: [
      'Merge Request Hook',
      {
        object_attributes: {
          last_commit: { id: 'a'.repeat(40) },
          source_project_id: from,
          target_project_id: 42,
        },
      },
    ],
    service_c_dc: [
      'pr:opened',
      {
        pullRequest: {
          fromRef: { repository: from === null ? {} : { id: from } },
          toRef: { latestCommit: 'a'.repeat(40), repository: { id: 42 } },
        },
      },
    ],
  }[service] as [string, Json];
  return { event, payload: { ...fill, marker: randomUUID() } };
}

const FORK = 43;
const OWN = 42;
const runOf = async (id: number): Promise<Row> =>
  (await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`))!;

/** Sends a change from a fork. Returns the run of the delivery and the approval that it waits for. */
async function held(hook: Hook): Promise<{ job: number; url: string; approval: number }> {
  const { body } = await hook.send(change(hook.service, FORK)).expect(202);
  const approval = await test.database.row<{ id: number }>(sql`
    SELECT id FROM unified_jobs
    WHERE type = 'workflow_approval' AND workflow_job_id = ${body.job as number}`);
  return { job: body.job, url: body.url, approval: approval!.id };
}

describe.each([['service_a'], ['service_b'], ['service_c_dc']] as const)(
  'a change of %s from a fork',
  (service) => {
    it('launches by default', async () => {
      const hook = await newHook(test, service);
      const { body } = await hook.send(change(service, FORK)).expect(202);
      expect(await runOf(body.job)).toMatchObject({ status: 'pending' });
    });

    it('launches nothing if forks are ignored, and is in the delivery log', async () => {
      const hook = await newHook(test, service, { webhook_forks: 'never' });
      for (const from of [FORK, null]) {
        const { body } = await hook.send(change(service, from)).expect(200);
        expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
        const again = await test.as.superuser
          .post(`webhook_deliveries/${body.delivery}/redeliver/`)
          .expect(200);
        expect(again.body.message).toBe('Webhook ignored');
      }
      expect(await hook.jobs()).toEqual([]);
      expect(await hook.deliveries()).toHaveLength(4);
      for (const row of await hook.deliveries()) {
        expect(row).toMatchObject({ verdict: 'ignored', reason: 'The event comes from a fork.' });
      }
      await hook.send(change(service, OWN)).expect(202);
      const { body: trial } = await test.as.superuser
        .post(`job_templates/${hook.template.id}/webhook_filters/test/`, {})
        .expect(200);
      expect(trial).toMatchObject({ launches: 1, count: 5 });
    });

    it('waits for an approval if the template requires it, and other changes do not', async () => {
      const hook = await newHook(test, service, { webhook_forks: 'approval' });
      const own = await hook.send(change(service, OWN)).expect(202);
      expect(await runOf(own.body.job)).toMatchObject({ status: 'pending' });
      const { job, url, approval } = await held(hook);
      const shown = await test.as.superuser.get(url).expect(200);
      expect(shown.body).toMatchObject({
        id: job,
        type: 'job',
        status: 'new',
        launch_type: 'webhook',
        job_explanation: `waiting for workflow_approval-${approval} to finish`,
      });
    });
  },
);

it('a comment on a commit counts as a change from a fork, because the commit can be of one', async () => {
  const hook = await newHook(test, 'service_a', { webhook_forks: 'never' });
  const payload = { comment: { commit_id: 'a'.repeat(40) }, repository: { id: OWN } };
  const { body } = await hook.send({ event: 'commit_comment', payload }).expect(200);
  expect(body.message).toBe('Webhook ignored');
});

describe('a run that waits for an approval', () => {
  it('starts after an admin of the template approves it', async () => {
    const hook = await newHook(test, 'service_a', { webhook_forks: 'approval' });
    const { template } = hook;
    const { make, as } = test;
    await make.grant('job_template', template, 'execute_role', { user: as.users.teamMember });
    await make.grant('job_template', template, 'admin_role', { user: as.users.nobody });
    const { job, approval } = await held(hook);
    const path = `workflow_approvals/${approval}/`;
    const { body } = await as.nobody.get(path).expect(200);
    expect(body).toMatchObject({
      name: 'Change from a fork',
      description: template.name,
      status: 'pending',
      launch_type: 'webhook',
      can_approve_or_deny: true,
      related: { job: `/api/v2/jobs/${job}/` },
    });
    await as.teamMember.get(path).expect(200);
    await as.teamMember.post(`${path}approve/`).expect(403);
    await as.orgMember.get(path).expect(403);
    await as.nobody.post(`${path}approve/`).expect(204);
    expect(await runOf(job)).toMatchObject({ status: 'pending', job_explanation: '' });
    await as.nobody.post(`${path}deny/`).expect(400);
    await as.teamMember.post(`jobs/${job}/relaunch/`, {}).expect(201);
  });

  it('never starts after it is denied', async () => {
    const hook = await newHook(test, 'service_a', { webhook_forks: 'approval' });
    const { job, approval } = await held(hook);
    const early = await test.as.superuser.post(`jobs/${job}/relaunch/`, {}).expect(400);
    expect(early.body.detail).toContain('not approved');
    await test.as.superuser.post(`workflow_approvals/${approval}/deny/`).expect(204);
    expect(await runOf(job)).toMatchObject({
      status: 'canceled',
      job_explanation: `The approval Change from a fork (${approval}) was denied.`,
    });
    await test.as.superuser.post(`jobs/${job}/relaunch/`, {}).expect(400);
    await test.as.superuser.post(`workflow_approvals/${approval}/approve/`).expect(400);
    const schedule = await test.as.superuser.post(`jobs/${job}/create_schedule/`).expect(400);
    expect(schedule.body.detail).toContain('not approved');
    const forget = await test.as.superuser.delete(`workflow_approvals/${approval}/`).expect(403);
    expect(forget.body.detail).toContain('cannot be deleted before its run');
    await test.as.superuser.post(`jobs/${job}/relaunch/`, {}).expect(400);
    expect(await hook.jobs()).toHaveLength(1);
    await test.as.superuser.delete(`jobs/${job}/`).expect(204);
    await test.as.superuser.get(`workflow_approvals/${approval}/`).expect(404);
  });

  it('waits for another approval after a redelivery', async () => {
    const hook = await newHook(test, 'service_a', { webhook_forks: 'approval' });
    await held(hook);
    const [delivery] = await hook.deliveries();
    const { body } = await test.as.superuser
      .post(`webhook_deliveries/${delivery!.id}/redeliver/`)
      .expect(202);
    expect(await runOf(body.job)).toMatchObject({ status: 'new' });
  });

  it('can be canceled, which removes the approval', async () => {
    const hook = await newHook(test, 'service_a', { webhook_forks: 'approval' });
    const { job, approval } = await held(hook);
    await test.as.superuser.post(`jobs/${job}/cancel/`).expect(202);
    expect(await runOf(job)).toMatchObject({ status: 'canceled' });
    expect(await runOf(approval)).toMatchObject({ status: 'canceled' });
    await test.as.superuser.post(`workflow_approvals/${approval}/approve/`).expect(400);
    expect(await runOf(job)).toMatchObject({ status: 'canceled' });
  });

  it('is a workflow job for a workflow, and starts none of its nodes', async () => {
    const job = await test.make.jobTemplate();
    const workflow = await runs.template({ n: { unified_job_template: job.id } }, [], {
      webhook_forks: 'approval',
    });
    const hook = await addHook(test, workflow, 'service_a');
    const approver = test.as.users.orgMember;
    await test.make.grant('workflow_job_template', workflow, 'approval_role', { user: approver });
    const first = await held(hook);
    await runs.settle();
    expect(await runs.run(first.job)).toMatchObject({ type: 'workflow_job', status: 'new' });
    expect(await runs.runOf(first.job, 'n')).toBeUndefined();
    await test.as.orgMember.post(`workflow_approvals/${first.approval}/approve/`).expect(204);
    await runs.settle();
    expect(await runs.run(first.job)).toMatchObject({ status: 'running' });
    expect(await runs.runOf(first.job, 'n')).toMatchObject({ status: 'pending' });
    const second = await held(hook);
    await test.as.orgMember.post(`workflow_approvals/${second.approval}/deny/`).expect(204);
    await runs.settle();
    expect(await runs.runOf(second.job, 'n')).toBeUndefined();
    await test.as.superuser.post(`workflow_jobs/${second.job}/relaunch/`, {}).expect(400);
  });
});

describe('a captured delivery', () => {
  it('launches again under another id, unless the template forbids this', async () => {
    const open = await newHook(test, 'service_a');
    const closed = await newHook(test, 'service_a', { webhook_dedupe_body: true });
    for (const [hook, launches] of [
      [open, 2],
      [closed, 1],
    ] as const) {
      const first = await hook.send(firstSample('service_a')).expect(202);
      const second = await hook.send(firstSample('service_a')).expect(202);
      expect(await hook.jobs()).toHaveLength(launches);
      if (launches === 2) continue;
      const { job, delivery } = first.body as { job: number; delivery: number };
      expect(second.body).toMatchObject({ message: 'Webhook previously received, aborting.', job });
      const [, duplicate] = await hook.deliveries();
      expect(duplicate).toMatchObject({
        verdict: 'duplicate',
        reason: `Delivery ${delivery} had the same body.`,
      });
      await hook.send(webhookSample('service_a', 'release')).expect(202);
      expect(await hook.jobs()).toHaveLength(2);
    }
  });

  it('launches once for fifty simultaneous copies', async () => {
    const hook = await newHook(test, 'service_a', { webhook_dedupe_body: true });
    const copies = Array.from({ length: 50 }, () => hook.send(firstSample('service_a')));
    const answers = await Promise.all(copies);
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(50).fill(202));
    expect(await hook.jobs()).toHaveLength(1);
  });

  it('can be redelivered by admins of the template', async () => {
    const hook = await newHook(test, 'service_a', { webhook_dedupe_body: true });
    const { body } = await hook.send(firstSample('service_a')).expect(202);
    const again = () =>
      test.as.superuser.post(`webhook_deliveries/${body.delivery}/redeliver/`).expect(202);
    await again();
    await again();
    expect(await hook.jobs()).toHaveLength(3);
    await hook.send(firstSample('service_a')).expect(202);
    expect(await hook.jobs()).toHaveLength(3);
  });
});

it('a connection test has the same response for missing, inactive and active templates', async () => {
  const hook = await newHook(test, 'service_c_dc');
  const other = await newHook(test, 'service_a');
  const ping = { 'X-Service-C-Event': 'diagnostics:ping', 'Content-Type': 'application/json' };
  const paths = [
    hook.path(),
    other.path('service_c_dc'),
    '/api/v2/job_templates/999999/service_c_dc/',
    '/api/v2/workflow_job_templates/999999/service_c_dc/',
    '/api/v2/projects/x/service_c_dc/',
  ];
  const answers = [];
  for (const path of paths) {
    const { status, body, headers } = await hook.post(Buffer.from('{"test": true}'), ping, path);
    const names = Object.keys(headers).filter((name) => name !== 'x-api-request-id');
    answers.push({ status, body: body as Json, names });
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 200, body: { message: 'Webhook ignored' } });
  const headers = deliveryHeaders('service_c_dc', 'pr:opened', Buffer.from('{}'), 'wrong');
  await hook.post(Buffer.from('{}'), headers).expect(403);
  await test.app.get(RejectionLog, { strict: false }).flush();
  const counted = (await hook.deliveries()).find(({ verdict }) => verdict === 'ignored');
  expect(counted).toMatchObject({ repeats: 1, answer: 200 });
});
