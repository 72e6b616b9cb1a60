import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { boot, type TestApp } from '../support/boot.js';
import { commitId, type Json } from '../support/payloads/sample.js';
import { firstSample, SERVICE_ROWS, webhookSample } from '../support/payloads/webhooks.js';
import { addHook, type Hook, type SentEvent } from '../support/webhooks.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

async function coalescing(
  service: WebhookServiceName = 'service_a',
  fields: Json = {},
): Promise<Hook> {
  const template = await test.make.jobTemplate({ webhook_coalesce: true, ...fields });
  return addHook(test, template, service);
}

/** A push of service A. */
const push = (branch: string, word: string): SentEvent => ({
  event: 'push',
  payload: {
    ...webhookSample('service_a', 'push').payload,
    ref: `refs/heads/${branch}`,
    after: commitId(word),
  },
});

const statuses = async (hook: Hook): Promise<unknown[]> =>
  (await hook.jobs()).map(({ status }) => status);

const place = (job: Row, status: string): Promise<number> =>
  test.database.execute(sql`UPDATE unified_jobs SET status = ${status} WHERE id = ${job.id}`);

describe('a push while the job of an earlier one is pending', () => {
  it.each(SERVICE_ROWS)(
    'replaces that job, and the delivery log of %s shows it',
    async (service) => {
      const hook = await coalescing(service);
      const first = await hook.send(firstSample(service)).expect(202);
      const second = await hook.send(firstSample(service)).expect(202);
      expect(second.body.message).toBe('Job queued.');
      const [old, newest] = await hook.jobs();
      expect(old).toMatchObject({
        id: first.body.job,
        status: 'canceled',
        job_explanation: expect.stringContaining(`webhook delivery ${second.body.delivery}`),
      });
      expect(newest).toMatchObject({ id: second.body.job, status: 'pending' });
      const path = `webhook_deliveries/${first.body.delivery}/`;
      const { body } = await test.as.superuser.get(path).expect(200);
      expect(body).toMatchObject({
        verdict: 'accepted',
        answer: 202,
        job: first.body.job,
        superseded_by: second.body.delivery,
      });
      const asked = `webhook_deliveries/?superseded_by=${second.body.delivery}`;
      expect((await test.as.superuser.get(asked).expect(200)).body.count).toBe(1);
      expect(body).not.toHaveProperty('push_ref');
    },
  );

  it('leaves one job of many simultaneous pushes, and records all of them', async () => {
    const hook = await coalescing();
    const pushes = Array.from({ length: 30 }, (_one, index) => push('main', `c${index}`));
    const answers = await Promise.all(pushes.map((one) => hook.send(one).expect(202)));
    expect(new Set(answers.map(({ body }) => body.job as number)).size).toBe(30);
    const jobs = await hook.jobs();
    const waiting = jobs.filter(({ status }) => status === 'pending');
    expect(waiting).toHaveLength(1);
    expect(jobs.filter(({ status }) => status === 'canceled')).toHaveLength(29);
    const deliveries = await hook.deliveries();
    const kept = deliveries.filter(({ superseded_by_id: by }) => by === null);
    expect(kept.map(({ id }) => id)).toEqual([waiting[0]!.webhook_delivery_id]);
    // Each push was replaced by the next one, and the last one runs.
    const later = deliveries.slice(1).map(({ id }) => id);
    expect(deliveries.map(({ superseded_by_id: by }) => by)).toEqual([...later, null]);
  });

  it('replaces a workflow job too', async () => {
    const template = await test.make.workflowTemplate({ webhook_coalesce: true });
    const hook = await addHook(test, template, 'service_a');
    await hook.send(push('main', 'a')).expect(202);
    const { body } = await hook.send(push('main', 'b')).expect(202);
    expect(body.url).toBe(`/api/v2/workflow_jobs/${body.job as number}/`);
    expect(await statuses(hook)).toEqual(['canceled', 'pending']);
  });

  it('is a repetition if it is the same delivery', async () => {
    const hook = await coalescing();
    const first = await hook.send(push('main', 'a'), { delivery: 'one' }).expect(202);
    await hook.send(push('main', 'b'), { delivery: 'two' }).expect(202);
    const { body } = await hook.send(push('main', 'a'), { delivery: 'one' }).expect(202);
    expect(body).toMatchObject({
      message: 'Webhook previously received, aborting.',
      job: first.body.job,
    });
    expect(await statuses(hook)).toEqual(['canceled', 'pending']);
  });

  it('does not replace the job if it cannot be launched', async () => {
    const hook = await coalescing();
    await hook.send(push('main', 'a')).expect(202);
    const { project_id: project } = hook.template;
    const setProject = (id: unknown) =>
      test.database.execute(
        sql`UPDATE unified_job_templates SET project_id = ${id} WHERE id = ${hook.template.id}`,
      );
    await setProject(null);
    await hook.send(push('main', 'b')).expect(400);
    expect(await statuses(hook)).toEqual(['pending']);
    await setProject(project);
  });

  it('sends no notification about the replaced job', async () => {
    const hook = await coalescing();
    const template = await test.make.notificationTemplate();
    await test.as.superuser
      .post(`job_templates/${hook.template.id}/notification_templates_error/`, { id: template.id })
      .expect(204);
    await hook.send(push('main', 'a')).expect(202);
    await hook.send(push('main', 'b')).expect(202);
    const [old, newest] = await hook.jobs();
    const of = async (job: Row): Promise<number> => {
      const { body } = await test.as.superuser.get(`jobs/${job.id}/notifications/`).expect(200);
      return body.count as number;
    };
    expect(await of(old!)).toBe(0);
    await test.as.superuser.post(`jobs/${newest!.id}/cancel/`).expect(202);
    expect(await of(newest!)).toBe(1);
  });
});

describe('a push does not replace a job', () => {
  it('unless the template enables this', async () => {
    const hook = await coalescing('service_a', { webhook_coalesce: false });
    await hook.send(push('main', 'a')).expect(202);
    await hook.send(push('main', 'b')).expect(202);
    expect(await statuses(hook)).toEqual(['pending', 'pending']);
  });

  it('of a push to another ref, or of another template', async () => {
    const [one, two] = [await coalescing(), await coalescing()];
    await one.send(push('main', 'a')).expect(202);
    await one.send(push('stable', 'b')).expect(202);
    await two.send(push('main', 'c')).expect(202);
    expect(await statuses(one)).toEqual(['pending', 'pending']);
    expect(await statuses(two)).toEqual(['pending']);
  });

  it.each(['waiting', 'running', 'successful'])('that is %s', async (status) => {
    const hook = await coalescing();
    await hook.send(push('main', 'a')).expect(202);
    const [job] = await hook.jobs();
    await place(job!, status);
    await hook.send(push('main', 'b')).expect(202);
    expect(await statuses(hook)).toEqual([status, 'pending']);
  });

  it('of an event that is not a push', async () => {
    const hook = await coalescing();
    const request = webhookSample('service_a', 'pull_request');
    await hook.send(request).expect(202);
    await hook.send(request).expect(202);
    expect(await statuses(hook)).toEqual(['pending', 'pending']);
  });

  it('of a push to several refs', async () => {
    const hook = await coalescing('service_c_dc');
    const { payload } = firstSample('service_c_dc');
    const [change] = payload.changes as [Json];
    const other = { ...change, ref: { id: 'refs/heads/stable' }, refId: 'refs/heads/stable' };
    const event = 'repo:refs_changed';
    await hook.send({ event, payload: { ...payload, changes: [change, other] } }).expect(202);
    await hook.send({ event, payload }).expect(202);
    expect(await statuses(hook)).toEqual(['pending', 'pending']);
  });

  it('that a user launched or relaunched', async () => {
    const hook = await coalescing();
    const { body } = await hook.send(push('main', 'a')).expect(202);
    const [job] = await hook.jobs();
    await place(job!, 'failed');
    const path = `job_templates/${hook.template.id}/launch/`;
    await test.as.superuser.post(path, {}).expect(201);
    await test.as.superuser.post(`jobs/${body.job as number}/relaunch/`, {}).expect(201);
    await hook.send(push('main', 'b')).expect(202);
    expect(await statuses(hook)).toEqual(['failed', 'pending', 'pending', 'pending']);
  });

  it('if it is an old delivery that a user sends again', async () => {
    const hook = await coalescing();
    const old = await hook.send(push('main', 'a')).expect(202);
    await hook.send(push('main', 'b')).expect(202);
    const path = `webhook_deliveries/${old.body.delivery as number}/redeliver/`;
    await test.as.superuser.post(path, {}).expect(202);
    expect(await statuses(hook)).toEqual(['canceled', 'pending', 'pending']);
    await hook.send(push('main', 'c')).expect(202);
    expect(await statuses(hook)).toEqual(['canceled', 'canceled', 'pending', 'pending']);
  });
});
