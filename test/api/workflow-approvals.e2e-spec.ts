import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import type { PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';
import { WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
let runs: WorkflowRuns;
let workflow: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  const job = (await test.make.jobTemplate({ allow_simultaneous: true })).id;
  workflow = await runs.template(
    {
      Release: { approval: {} },
      go: { unified_job_template: job },
      stop: { unified_job_template: job },
    },
    [
      ['Release', 'success', 'go'],
      ['Release', 'failure', 'stop'],
    ],
    { allow_simultaneous: true },
  );
  const { make, as } = test;
  await make.grant('workflow_job_template', workflow, 'approval_role', {
    user: as.users.orgMember,
  });
  await make.grant('workflow_job_template', workflow, 'read_role', { user: as.users.teamAdmin });
  await make.grant('workflow_job_template', workflow, 'admin_role', { user: as.users.nobody });
}, 60_000);
afterAll(() => test.close());

/** A workflow job that waits, and the URL of its approval. */
async function waiting(of: Row = workflow): Promise<{ id: number; approval: Row; url: string }> {
  const id = await runs.launch(of);
  const approval = (await runs.runOf(id, 'Release'))!;
  return { id, approval, url: `workflow_approvals/${approval.id}/` };
}

it('a pending approval shows its workflow', async () => {
  const { id, approval, url } = await waiting();
  const { body } = await test.as.orgMember.get(url).expect(200);
  expect(body).toMatchObject({
    id: approval.id,
    type: 'workflow_approval',
    name: 'Release',
    status: 'pending',
    launch_type: 'workflow',
    started: null,
    finished: null,
    can_approve_or_deny: true,
    approval_expiration: null,
    timed_out: false,
    launched_by: { name: 'superuser', type: 'user' },
    related: {
      approve: `/api/v2/${url}approve/`,
      deny: `/api/v2/${url}deny/`,
      source_workflow_job: `/api/v2/workflow_jobs/${id}/`,
      workflow_approval_template: `/api/v2/workflow_approval_templates/${approval.unified_job_template_id as number}/`,
    },
    summary_fields: {
      workflow_job: { id, name: workflow.name, status: 'running' },
      source_workflow_job: { id, name: workflow.name, status: 'running' },
      workflow_job_template: { id: workflow.id, name: workflow.name },
      workflow_approval_template: { name: 'Release' },
      user_capabilities: { delete: false, start: false },
    },
  });
  for (const absent of ['execution_node', 'workflow_job', 'timeout', 'approved_or_denied_by']) {
    expect(body).not.toHaveProperty(absent);
  }
  const { body: nodes } = await test.as.orgMember
    .get(`workflow_jobs/${id}/workflow_nodes/?identifier=Release`)
    .expect(200);
  expect(nodes.results[0]).toMatchObject({
    job: approval.id,
    related: { job: `/api/v2/${url}` },
    summary_fields: { unified_job_template: { unified_job_type: 'workflow_approval' } },
  });
});

it('approvals have their own list, and are not in the list of all runs', async () => {
  const { approval } = await waiting();
  const mine = await test.as.orgMember.get(`workflow_approvals/?id=${approval.id}`).expect(200);
  expect(mine.body.count).toBe(1);
  const template = approval.unified_job_template_id as number;
  const ofTemplate = await test.as.orgMember
    .get(`workflow_approval_templates/${template}/approvals/?status=pending&id=${approval.id}`)
    .expect(200);
  expect(ofTemplate.body.results.map(({ id }: Row) => id)).toEqual([approval.id]);
  const url = `workflow_approval_templates/${template}/`;
  const { related } = (await test.as.orgMember.get(url).expect(200)).body;
  expect(related).toMatchObject({
    ...{ jobs: `/api/v2/${url}approvals/`, approvals: `/api/v2/${url}approvals/` },
  });
  for (const query of ['type=workflow_approval', `id=${approval.id}`]) {
    const all = await test.as.superuser.get(`unified_jobs/?${query}`).expect(200);
    expect(all.body).toMatchObject({ count: 0, results: [] });
  }
  const others = await test.as.outsider.get('workflow_approvals/').expect(200);
  expect(others.body.count).toBe(0);
});

it('twenty approvals need as many statements as one', async () => {
  for (let count = 0; count < 20; count += 1) await waiting();
  await samePageQueries(test.database, test.as.orgMember, 'workflow_approvals/', [1, 20]);
});

it.each([
  ['approve', 'successful', 'go'],
  ['deny', 'failed', 'stop'],
] as const)(
  '%s ends an approval as %s and the workflow continues',
  async (decision, status, next) => {
    const { id, url, approval } = await waiting();
    await test.as.orgMember.post(`${url}${decision}/`, {}).expect(204);
    const { body } = await test.as.orgMember.get(url).expect(200);
    expect(body).toMatchObject({
      status,
      failed: status === 'failed',
      can_approve_or_deny: false,
      timed_out: false,
      related: { approved_or_denied_by: `/api/v2/users/${test.as.users.orgMember.id}/` },
      summary_fields: { approved_or_denied_by: { username: 'orgMember' } },
    });
    expect(body.finished).not.toBeNull();
    await runs.settle();
    expect((await runs.runOf(id, next))?.type).toBe('job');
    const { body: activity } = await test.as.superuser
      .get(`activity_stream/?object1=workflow_approval&order_by=-id&page_size=1`)
      .expect(200);
    expect(activity.results[0]).toMatchObject({
      operation: 'update',
      changes: { id: approval.id, status: ['pending', status] },
      summary_fields: { actor: { username: 'orgMember' } },
    });
  },
);

it('an approval has one result, even with simultaneous decisions', async () => {
  const { url } = await waiting();
  const decisions = ['approve', 'deny', 'approve', 'deny', 'approve'];
  const answers = await Promise.all(
    decisions.map((decision) => test.as.orgMember.post(`${url}${decision}/`, {})),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400, 400]);
  const { body } = await test.as.orgMember.post(`${url}approve/`, {}).expect(400);
  expect(body).toEqual({
    detail: 'This workflow step has already been approved or denied.',
  });
});

it.each<[PersonaName | 'anonymous', number, number]>([
  ['superuser', 200, 204],
  ['orgAdmin', 200, 204],
  ['orgMember', 200, 204],
  ['nobody', 200, 204],
  ['auditor', 200, 403],
  ['teamAdmin', 200, 403],
  ['outsider', 403, 403],
  ['anonymous', 401, 401],
])('%s: reading %i, approving %i', async (persona, reading, approving) => {
  const { url } = await waiting();
  const { body } = await test.as[persona].get(url).expect(reading);
  if (reading === 200) expect(body.can_approve_or_deny).toBe(approving === 204);
  const { body: answer } = await test.as[persona].post(`${url}approve/`, {}).expect(approving);
  if (reading === 200 && approving === 403) {
    expect(answer).toEqual({
      detail: 'User does not have permission to approve or deny this workflow.',
    });
  }
});

it('an approval expires by the clock of the database', async () => {
  const hasty = await runs.template(
    { Release: { approval: { timeout: 60 } }, later: { approval: {} } },
    [['Release', 'failure', 'later']],
  );
  const { id, approval, url } = await waiting(hasty);
  const { body: before } = await test.as.superuser.get(url).expect(200);
  expect(new Date(before.approval_expiration).getTime()).toBe(
    new Date(before.created).getTime() + 60_000,
  );
  await runs.advance();
  expect((await runs.run(approval.id)).status).toBe('pending');
  await test.database.execute(sql`
    UPDATE unified_jobs SET created = created - interval '61 seconds' WHERE id = ${approval.id}`);
  await test.as.superuser.get(`${url}approve/`).expect(200, { can_approve_or_deny: false });
  for (const decision of ['approve', 'deny']) {
    await test.as.superuser.post(`${url}${decision}/`, {}).expect(400);
  }
  await runs.settle();
  const { body } = await test.as.superuser.get(url).expect(200);
  expect(body).toMatchObject({
    status: 'failed',
    timed_out: true,
    approval_expiration: null,
    job_explanation: `The approval node Release (${approval.id}) has expired after 60 seconds.`,
  });
  expect((await runs.runOf(id, 'later'))?.status).toBe('pending');
});

it('an approval is canceled with its workflow, and cannot be decided afterwards', async () => {
  const { id, url } = await waiting();
  await test.as.superuser.post(`workflow_jobs/${id}/cancel/`, {}).expect(202);
  await runs.settle();
  const { body } = await test.as.superuser.get(url).expect(200);
  expect(body).toMatchObject({ status: 'canceled', can_approve_or_deny: false });
  await test.as.superuser.post(`${url}deny/`, {}).expect(400);
});

describe('a node that is deleted while its approval begins', () => {
  let id: number;
  let remove: () => Promise<unknown>;
  beforeEach(async () => {
    const of = await runs.template({ Gate: { approval: {} } });
    id = await runs.queue(of);
    const { body } = await test.as.superuser
      .get(`workflow_job_templates/${of.id}/workflow_nodes/`)
      .expect(200);
    const url = `workflow_job_template_nodes/${body.results[0].id}/`;
    remove = () => test.as.superuser.delete(url).expect(204);
  });

  it('denies the approval', async () => {
    const none = () => Promise.resolve();
    await interleave<unknown>(test.database, [runs.advance, remove, none]);
    expect(await runs.runOf(id, 'Gate')).toMatchObject({ status: 'failed' });
  });

  it('is missing if the deletion was first', async () => {
    const { body } = await test.as.superuser.get(`workflow_jobs/${id}/workflow_nodes/`).expect(200);
    const template = body.results[0].unified_job_template as number;
    await interleave(test.database, [
      () => test.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${template}`),
      runs.advance,
      () => Promise.resolve(),
    ]);
    await runs.settle();
    expect(await runs.outcomes(id)).toEqual({ Gate: 'missing' });
    expect(await runs.run(id)).toMatchObject({ status: 'failed' });
  });
});

it('workflow admins delete an approval after its workflow job has ended', async () => {
  const { id, url } = await waiting();
  const refused = await test.as.nobody.delete(url).expect(403);
  expect(refused.body).toEqual({ detail: 'Cannot delete running job resource.' });
  await test.as.nobody.post(`${url}deny/`, {}).expect(204);
  await runs.settle();
  const busy = await test.as.nobody.delete(url).expect(403);
  expect(busy.body).toEqual({
    detail: 'Cannot delete job resource when associated workflow job is running.',
  });
  await runs.end(id, 'stop', 'successful');
  await test.as.orgMember.delete(url).expect(403);
  await test.as.nobody.delete(url).expect(204);
  await test.as.superuser.get(url).expect(404);
});

describe('notifications', () => {
  const hook = () =>
    test.make.notificationTemplate({ organization: test.home.organization.id, messages: null });
  const eventsOf = async (approval: Row): Promise<[unknown, number][]> => {
    const rows = await test.database.rows<{ event: string; template: number }>(sql`
      SELECT event, notification_template_id AS template FROM notifications
      WHERE unified_job_id = ${approval.id} ORDER BY id`);
    return rows.map(({ event, template }) => [event, template]);
  };

  it('are sent for each step, by templates of the workflow and of its organization', async () => {
    const [own, organizations] = [await hook(), await hook()];
    const timed = await runs.template({ Release: { approval: { timeout: 30 } } }, [], {
      allow_simultaneous: true,
    });
    const attach = (url: string, { id }: Row) =>
      test.as.superuser.post(`${url}notification_templates_approvals/`, { id }).expect(204);
    await attach(`workflow_job_templates/${timed.id}/`, own);
    await attach(`organizations/${test.home.organization.id}/`, own);
    await attach(`organizations/${test.home.organization.id}/`, organizations);
    const both = (event: string) => [
      [event, own.id],
      [event, organizations.id],
    ];
    const approved = await waiting(timed);
    expect(await eventsOf(approved.approval)).toEqual(both('workflow_approval.running'));
    await test.as.superuser.post(`${approved.url}approve/`, {}).expect(204);
    const denied = await waiting(timed);
    await test.as.superuser.post(`${denied.url}deny/`, {}).expect(204);
    const late = await waiting(timed);
    await test.database.execute(sql`
      UPDATE unified_jobs SET created = created - interval '1 hour' WHERE id = ${late.approval.id}`);
    await runs.settle();
    const canceled = await waiting(timed);
    await test.as.superuser.post(`workflow_jobs/${canceled.id}/cancel/`, {}).expect(202);
    await runs.settle();
    for (const [{ approval }, event] of [
      [approved, 'approved'],
      [denied, 'denied'],
      [late, 'timed_out'],
    ] as const) {
      expect(await eventsOf(approval)).toEqual([
        ...both('workflow_approval.running'),
        ...both(`workflow_approval.${event}`),
      ]);
    }
    expect(await eventsOf(canceled.approval)).toEqual(both('workflow_approval.running'));
    const { body } = await test.as.superuser
      .get(`workflow_approvals/${denied.approval.id}/notifications/`)
      .expect(200);
    expect(body.count).toBe(4);
    const ofWorkflow = await test.as.superuser
      .get(`workflow_jobs/${denied.id}/notifications/?event=workflow_approval.denied`)
      .expect(200);
    expect(ofWorkflow.body.count).toBe(2);
  });
});

it('an approval shows whether the caller can decide', async () => {
  const { url } = await waiting();
  for (const decision of ['approve', 'deny']) {
    await test.as.orgMember.get(`${url}${decision}/`).expect(200, { can_approve_or_deny: true });
    await test.as.teamAdmin.get(`${url}${decision}/`).expect(200, { can_approve_or_deny: false });
  }
});
