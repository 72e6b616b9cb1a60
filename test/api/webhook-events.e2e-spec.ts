import { randomUUID } from 'node:crypto';

import { sql } from '../../src/database/sql.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { endedOrWaiting } from '../support/interleave.js';
import { LOST_SURVEY } from '../support/lost-key.js';
import { deliveryHeaders, firstSample, WEBHOOK_SAMPLES } from '../support/payloads/webhooks.js';
import { addHook, newHook, type Hook } from '../support/webhooks.js';

let test: TestApp;
let hooks: Record<WebhookServiceName, Hook>;

beforeAll(async () => {
  test = await boot();
  hooks = {
    service_a: await newHook(test, 'service_a'),
    service_b: await newHook(test, 'service_b'),
    service_c_dc: await newHook(test, 'service_c_dc'),
  };
});
afterAll(() => test.close());

const jobOf = async (id: number): Promise<Row> => {
  const row = await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`);
  return row!;
};

describe('variables of the job', () => {
  it.each(WEBHOOK_SAMPLES.map((sample) => [sample.service, sample.event, sample] as const))(
    '%s %s',
    async (service, _event, sample) => {
      const delivery = randomUUID();
      const { body } = await hooks[service].send(sample, { delivery }).expect(202);
      const job = await test.as.superuser.get(`jobs/${body.job}/`).expect(200);
      const variables = JSON.parse(job.body.extra_vars as string) as Record<string, unknown>;
      for (const prefix of ['svc_', 'awx_', 'tower_']) {
        expect(variables).toMatchObject({
          [`${prefix}webhook_event_type`]: sample.event,
          [`${prefix}webhook_event_guid`]: delivery,
          [`${prefix}webhook_event_ref`]: sample.ref,
          [`${prefix}webhook_event_ref_name`]: sample.refName,
          [`${prefix}webhook_event_head_ref`]: sample.headRef,
          [`${prefix}webhook_status_api`]: sample.statusApi,
          [`${prefix}webhook_payload`]: sample.payload,
        });
      }
      const row = await jobOf(body.job as number);
      expect(String(row.extra_vars)).not.toContain('webhook');
    },
  );

  it.each<[WebhookServiceName, string, Record<string, unknown>]>([
    ['service_a', 'push', { ref: 'refs/heads/x', after: '0'.repeat(40), deleted: true }],
    ['service_a', 'push', { after: '0'.repeat(64) }],
    ['service_a', 'push', { after: { sha: 1 } }],
    ['service_a', 'release', {}],
    ['service_b', 'Push Hook', { checkout_sha: null }],
    ['service_c_dc', 'repo:refs_changed', { changes: [] }],
    ['service_c_dc', 'pr:opened', { pullRequest: null }],
  ])('are null if the ref of %s %s is missing: %j', async (service, event, payload) => {
    const { body } = await hooks[service].send({ event, payload }).expect(202);
    const job = await test.as.superuser.get(`jobs/${body.job}/`).expect(200);
    const variables = JSON.parse(job.body.extra_vars as string) as Record<string, unknown>;
    expect(variables).toMatchObject({
      svc_webhook_event_ref: null,
      svc_webhook_status_api: null,
      svc_webhook_payload: payload,
    });
  });
});

describe('connection tests', () => {
  it('from service A are signed and ignored', async () => {
    const { body } = await hooks.service_a
      .send({ event: 'ping', payload: { zen: 'x' } })
      .expect(200);
    expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
  });

  it('from service C are not signed, ignored, and counted instead of recorded separately', async () => {
    const hook = await newHook(test, 'service_c_dc');
    const ping = { 'X-Service-C-Event': 'diagnostics:ping', 'Content-Type': 'application/json' };
    for (let sent = 0; sent < 5; sent += 1) {
      const { body } = await hook.post(Buffer.from('{"test": true}'), ping).expect(200);
      expect(body).toEqual({ message: 'Webhook ignored' });
    }
    await test.app.get(RejectionLog, { strict: false }).flush();
    const rows = await hook.deliveries();
    expect(rows.length).toBeLessThanOrEqual(2);
    expect(rows.reduce((sum, row) => sum + (row.repeats as number), 0)).toBe(5);
    expect(rows[0]).toMatchObject({ verdict: 'ignored', payload: null });
  });

  it('reveal nothing about templates without a service', async () => {
    const ping = { 'X-Service-C-Event': 'diagnostics:ping' };
    const path = hooks.service_a.path('service_c_dc');
    const { body } = await hooks.service_a.post(Buffer.from('{}'), ping, path).expect(200);
    expect(body).toEqual({ message: 'Webhook ignored' });
    await test.app.get(RejectionLog, { strict: false }).flush();
    const counted = (await hooks.service_a.deliveries()).filter(
      ({ service }) => service === 'service_c_dc',
    );
    expect(counted).toEqual([]);
  });
});

describe('identity of a delivery', () => {
  it('is read from the header with the highest priority', async () => {
    const { payload } = firstSample('service_b');
    const body = Buffer.from(JSON.stringify(payload));
    const headers = {
      ...deliveryHeaders('service_b', 'Push Hook', body, hooks.service_b.key, {
        delivery: 'three',
      }),
      'webhook-id': 'two',
      'Idempotency-Key': 'one',
    };
    const { body: answer } = await hooks.service_b.post(body, headers).expect(202);
    expect(await jobOf(answer.job as number)).toMatchObject({ webhook_guid: 'one' });
  });

  it('is the digest of the body for a day, if service B sends none', async () => {
    const hook = await newHook(test, 'service_b');
    const sample = firstSample('service_b');
    const send = () => hook.send(sample, { delivery: undefined as never });
    await send().expect(202);
    expect((await send()).body.message).toBe('Webhook previously received, aborting.');
    await test.database.execute(sql`
      UPDATE webhook_deliveries SET dedupe_until = now() - interval '1 second'
      WHERE template_id = ${hook.template.id} AND dedupe_key IS NOT NULL`);
    expect((await send()).body.message).toBe('Job queued.');
    expect((await send()).body.message).toBe('Webhook previously received, aborting.');
    expect(await hook.jobs()).toHaveLength(2);
  });

  it('is the digest of the body permanently, if service A sends none', async () => {
    const hook = await newHook(test, 'service_a');
    await hook.send(firstSample('service_a'), { delivery: undefined as never }).expect(202);
    const { body } = await hook.send(firstSample('service_a'), { delivery: undefined as never });
    expect(body.message).toBe('Webhook previously received, aborting.');
    const [kept] = await hook.deliveries();
    expect(kept?.dedupe_until).toBeNull();
  });
});

describe('a template that cannot be launched', () => {
  it('returns 400, and launches for the same delivery later when it can', async () => {
    const hook = await newHook(test, 'service_a');
    const { project_id } = hook.template;
    await test.database.execute(
      sql`UPDATE unified_job_templates SET project_id = NULL WHERE id = ${hook.template.id}`,
    );
    const delivery = randomUUID();
    const { body } = await hook.send(firstSample('service_a'), { delivery }).expect(400);
    expect(body).toEqual({ detail: expect.stringContaining('cannot be launched') });
    expect(await hook.jobs()).toEqual([]);
    expect((await hook.deliveries()).at(-1)).toMatchObject({
      verdict: 'rejected',
      reason: body.detail,
      answer: 400,
      payload: null,
    });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET project_id = ${project_id} WHERE id = ${hook.template.id}`);
    await hook.send(firstSample('service_a'), { delivery }).expect(202);
  });

  it.each(['its token for statuses', 'a credential of its jobs'])(
    'launches without %s if another request deletes it meanwhile',
    async (kind) => {
      const hook = await newHook(test, 'service_a');
      const isToken = kind === 'its token for statuses';
      const namespace = isToken ? 'service_a_token' : 'ssh';
      const { id } = await test.make.credential({ namespace });
      const url = `job_templates/${hook.template.id}/`;
      await (isToken
        ? test.as.superuser.patch(url, { webhook_credential: id }).expect(200)
        : test.as.superuser.post(`${url}credentials/`, { id }).expect(204));
      const { status, body } = await test.database.withClient(async (other) => {
        await other.query('BEGIN');
        await other.query('DELETE FROM credentials WHERE id = $1', [id]);
        const answer = hook.send(firstSample('service_a')).then((response) => response);
        await endedOrWaiting(test.database, answer);
        await other.query('COMMIT');
        return answer;
      });
      expect({ status, body }).toMatchObject({ status: 202, body: { message: 'Job queued.' } });
      expect(await jobOf(body.job as number)).toMatchObject({ webhook_credential_id: null });
    },
  );

  it('returns 400 if its secrets cannot be decrypted', async () => {
    const hook = await newHook(test, 'service_a');
    await test.database.execute(sql`
      UPDATE unified_job_templates SET survey_enabled = true, survey_spec = ${LOST_SURVEY}
      WHERE id = ${hook.template.id}`);
    const { body } = await hook.send(firstSample('service_a')).expect(400);
    expect(body.detail).toBe(
      'The template cannot be launched: A stored secret cannot be decrypted (unknown_key).',
    );
  });
});

describe('the ref of an event', () => {
  const cases = [true, false].flatMap((ask) => [true, false].map((allow) => [ask, allow] as const));

  it.each(cases)('becomes the branch if requested (%s) and permitted (%s)', async (ask, allow) => {
    const project = await test.make.project();
    await test.database.execute(
      sql`UPDATE unified_job_templates SET allow_override = ${allow} WHERE id = ${project.id}`,
    );
    const template = await test.make.jobTemplate({ project: project.id });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET ask_scm_branch_on_launch = ${ask}, scm_branch = ''
      WHERE id = ${template.id}`);
    const hook = await addHook(test, template, 'service_a');
    const sample = firstSample('service_a');
    const { body } = await hook.send(sample).expect(202);
    const row = await jobOf(body.job as number);
    expect(row.scm_branch).toBe(ask && allow ? sample.ref : '');
  });
});

describe("the template's filters", () => {
  it('reject events, which are recorded', async () => {
    const template = await test.make.jobTemplate({ webhook_filters: { refs: ['release/**'] } });
    const hook = await addHook(test, template, 'service_a');
    await hook.send(firstSample('service_a')).expect(200);
    const { payload } = firstSample('service_a');
    const release = { event: 'push', payload: { ...payload, ref: 'refs/heads/release/1/2' } };
    await hook.send(release).expect(202);
    const [held, launched] = await hook.deliveries();
    expect(held).toMatchObject({ verdict: 'ignored', reason: expect.stringContaining('refs') });
    expect(launched).toMatchObject({ verdict: 'accepted', ref_name: 'refs/heads/release/1/2' });
  });
});
