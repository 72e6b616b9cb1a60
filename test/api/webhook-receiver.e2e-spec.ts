import { randomUUID } from 'node:crypto';
import { sql } from '../../src/database/sql.js';
import { generateWebhookKey } from '../../src/common/crypto/random-key.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { webhookService, type WebhookServiceName } from '../../src/webhooks/services.js';
import { sign } from '../../src/webhooks/signature.js';
import { boot, type TestApp } from '../support/boot.js';
import {
  deliveryHeaders,
  padPayload,
  SERVICE_ROWS,
  WEBHOOK_SAMPLES,
  webhookSample,
  type WebhookSample,
} from '../support/payloads/webhooks.js';
import { arm, armed, type Hook } from '../support/webhooks.js';

const FORBIDDEN = { detail: 'You do not have permission to perform this action.' };
const FIRST_EVENT: Record<WebhookServiceName, string> = {
  service_a: 'push',
  service_b: 'Push Hook',
  service_c_dc: 'repo:refs_changed',
};
const firstSample = (service: WebhookServiceName): WebhookSample =>
  webhookSample(service, FIRST_EVENT[service]);
const bytesOf = (sample: WebhookSample): Buffer => Buffer.from(JSON.stringify(sample.payload));
const signed = (service: WebhookServiceName, body: Buffer, key: string) =>
  deliveryHeaders(service, FIRST_EVENT[service], body, key, { delivery: randomUUID() });
const proofHeader = (service: WebhookServiceName): string => {
  const { signature } = webhookService(service);
  return signature.kind === 'token' ? signature.header : signature.headers.at(-1)!.name;
};

let test: TestApp;
let hooks: Record<WebhookServiceName, Hook>;

beforeAll(async () => {
  test = await boot();
  hooks = {
    service_a: await armed(test, 'service_a'),
    service_b: await armed(test, 'service_b'),
    service_c_dc: await armed(test, 'service_c_dc'),
  };
});
afterAll(() => test.close());

const jobOf = async (id: number): Promise<Row> => {
  const row = await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`);
  return row!;
};

describe.each(SERVICE_ROWS)('the receiver of %s', (service) => {
  it('launches a job that knows its webhook', async () => {
    const hook = hooks[service];
    const delivery = randomUUID();
    const answer = await hook.send(firstSample(service), { delivery }).expect(202);
    const { job, delivery: record } = answer.body as { job: number; delivery: number };
    const url = `/api/v2/jobs/${job}/`;
    expect(answer.body).toEqual({ message: 'Job queued.', delivery: record, job, url });
    expect(await jobOf(job)).toMatchObject({
      type: 'job',
      status: 'pending',
      launch_type: 'webhook',
      created_by_id: null,
      webhook_service: service,
      webhook_guid: delivery,
      webhook_delivery_id: record,
    });
  });

  it('refuses whatever proves no key, always in the same words', async () => {
    const hook = hooks[service];
    const body = bytesOf(firstSample(service));
    const good = signed(service, body, hook.key);
    const proof = proofHeader(service);
    const without = Object.fromEntries(
      Object.entries(good).filter(([name]) => !/signature|token/i.test(name)),
    );
    const other = await armed(test, service);
    const cases: [Buffer, Record<string, string>, string?][] = [
      [body, without],
      [body, signed(service, body, generateWebhookKey())],
      [body, signed(service, body, other.key)],
      [body, { ...without, [proof]: '' }],
      [body, { ...without, [proof]: 'sha1=' }],
      [body, { ...without, [proof]: 'sha1=a=b' }],
      [body, { ...without, [proof]: 'sha256' }],
      [body, { ...without, [proof]: 'md5=00000000000000000000000000000000' }],
      [body, { ...without, [proof]: `sha1=${'g'.repeat(40)}` }],
      [body, { ...without, [proof]: `sha256=${'0'.repeat(64)}` }],
      [body, good, `/api/v2/job_templates/${hook.template.id + 100_000}/${service}/`],
      [body, good, `/api/v2/job_templates/99999999999/${service}/`],
      [body, good, `/api/v2/job_templates/none/${service}/`],
    ];
    if (service !== 'service_b') {
      cases.push([Buffer.concat([body, Buffer.from(' ')]), good]);
    }
    for (const [rawBody, headers, path] of cases) {
      const answer = await hook.post(rawBody, headers, path);
      expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
    }
  });

  it('refuses the senders of other services', async () => {
    const hook = hooks[service];
    for (const [other] of SERVICE_ROWS.filter(([name]) => name !== service)) {
      const body = bytesOf(firstSample(other));
      const answer = await hook.post(body, signed(other, body, hook.key), hook.path(other));
      expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
    }
  });

  it('refuses everybody for a template without a service', async () => {
    const template = await test.make.jobTemplate();
    const body = bytesOf(firstSample(service));
    const path = `/api/v2/job_templates/${template.id}/${service}/`;
    const answer = await hooks[service].post(body, signed(service, body, ''), path);
    expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
  });

  it('does not look at the credentials that come along', async () => {
    const hook = hooks[service];
    const body = bytesOf(firstSample(service));
    const bad = { Authorization: 'Bearer nonsense' };
    await hook.post(body, { ...signed(service, body, hook.key), ...bad }).expect(202);
    const token = await test.make.token(test.as.users.superuser);
    const admin = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    await hook.post(body, admin).expect(403);
  });

  it('reads a body only when it is verified', async () => {
    const hook = hooks[service];
    const body = Buffer.from('{"ref": ');
    await hook.post(body, signed(service, body, generateWebhookKey())).expect(403);
    const answer = await hook.post(body, signed(service, body, hook.key)).expect(400);
    expect(Object.keys(answer.body as object)).toEqual(['detail']);
    expect((await hook.deliveries()).at(-1)).toMatchObject({
      verdict: 'rejected',
      answer: 400,
      payload: null,
      size: body.length,
    });
  });

  it('launches once for a delivery that is repeated', async () => {
    const hook = await armed(test, service);
    const delivery = randomUUID();
    const first = await hook.send(firstSample(service), { delivery }).expect(202);
    const again = await hook.send(firstSample(service), { delivery }).expect(202);
    const { job, url } = first.body as { job: number; url: string };
    const message = 'Webhook previously received, aborting.';
    expect(again.body).toEqual({ message, delivery: expect.any(Number), job, url });
    expect(await hook.jobs()).toHaveLength(1);
    const [kept, repeated] = await hook.deliveries();
    expect(kept).toMatchObject({ verdict: 'accepted', job_id: job, answer: 202 });
    expect(repeated).toMatchObject({ verdict: 'duplicate', job_id: job, payload: null });
  });

  it('launches once for fifty copies at the same time', async () => {
    const hook = await armed(test, service);
    const delivery = randomUUID();
    const sample = { ...firstSample(service), payload: padPayload(firstSample(service).payload) };
    const copies = Array.from({ length: 50 }, () => hook.send(sample, { delivery }).expect(202));
    const answers = await Promise.all(copies);
    const queued = answers.filter(({ body }) => body.message === 'Job queued.');
    expect(queued).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.job as number)).size).toBe(1);
    expect(await hook.jobs()).toHaveLength(1);
  });

  it('keeps the deliveries of two templates apart', async () => {
    const [one, two] = [await armed(test, service), await armed(test, service)];
    const delivery = randomUUID();
    await one.send(firstSample(service), { delivery }).expect(202);
    const { body } = await two.send(firstSample(service), { delivery }).expect(202);
    expect(body.message).toBe('Job queued.');
  });

  it('ignores events that are not in the table, and says so', async () => {
    const hook = hooks[service];
    const answer = await hook.send({ event: 'wiki', payload: { a: 1 } }).expect(200);
    const { delivery } = answer.body as { delivery: number };
    expect(answer.body).toEqual({ message: 'Webhook ignored', delivery });
    expect((await hook.deliveries()).at(-1)).toMatchObject({
      id: delivery,
      verdict: 'ignored',
      event: 'wiki',
      answer: 200,
      job_id: null,
    });
  });

  it('answers other methods with 405 and OPTIONS with what it does', async () => {
    const path = hooks[service].path();
    for (const method of ['get', 'put', 'patch', 'delete']) {
      const answer = await test.as.superuser.request(method, path).expect(405);
      expect(answer.headers.allow).toBe('POST, OPTIONS');
    }
    await test.as.anonymous.options(path).expect(200);
  });
});

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
  ])('are null where the ref of %s %s is missing: %j', async (service, event, payload) => {
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

describe('signatures of service A', () => {
  const sample = firstSample('service_a');
  const body = bytesOf(sample);
  const base = { 'Content-Type': 'application/json', 'X-Service-A-Event': 'push' };
  const send = (headers: Record<string, string>) =>
    hooks.service_a.post(body, { ...base, 'X-Service-A-Delivery': randomUUID(), ...headers });

  it('may be SHA-1, as the contract has it, SHA-256, or both', async () => {
    const { key } = hooks.service_a;
    const one = { 'X-Service-A-Signature': sign('sha1', body, key) };
    const two = { 'X-Service-A-Signature-256': sign('sha256', body, key) };
    await send(one).expect(202);
    await send(two).expect(202);
    await send({ ...one, ...two }).expect(202);
  });

  it('must all be right when there are two', async () => {
    const { key } = hooks.service_a;
    const wrong = generateWebhookKey();
    for (const [sha1, sha256] of [
      [key, wrong],
      [wrong, key],
    ] as const) {
      await send({
        'X-Service-A-Signature': sign('sha1', body, sha1),
        'X-Service-A-Signature-256': sign('sha256', body, sha256),
      }).expect(403);
    }
  });

  it('are refused under the name of another algorithm', async () => {
    const { key } = hooks.service_a;
    await send({ 'X-Service-A-Signature': sign('sha256', body, key) }).expect(403);
    await send({ 'X-Service-A-Signature-256': sign('sha1', body, key) }).expect(403);
  });

  it('hold for forms too', async () => {
    const form = Buffer.from(new URLSearchParams({ payload: body.toString() }).toString());
    const contentType = 'application/x-www-form-urlencoded';
    const headers = deliveryHeaders('service_a', 'push', form, hooks.service_a.key, {
      contentType,
    });
    const answer = await hooks.service_a.post(form, headers).expect(202);
    const job = await test.as.superuser.get(`jobs/${answer.body.job}/`).expect(200);
    expect(JSON.parse(job.body.extra_vars as string)).toMatchObject({
      svc_webhook_payload: sample.payload,
    });
  });

  it('open no form for service B', async () => {
    const form = Buffer.from('payload=%7B%7D');
    const contentType = 'application/x-www-form-urlencoded';
    const { key } = hooks.service_b;
    const headers = deliveryHeaders('service_b', 'Push Hook', form, key, { contentType });
    await hooks.service_b.post(form, headers).expect(400);
  });
});

describe('connection tests', () => {
  it('of service A are signed and ignored', async () => {
    const { body } = await hooks.service_a
      .send({ event: 'ping', payload: { zen: 'x' } })
      .expect(200);
    expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
  });

  it('of service C are not signed, ignored, and counted instead of kept one by one', async () => {
    const hook = await armed(test, 'service_c_dc');
    const ping = { 'X-Service-C-Event': 'diagnostics:ping', 'Content-Type': 'application/json' };
    for (let sent = 0; sent < 5; sent += 1) {
      const { body } = await hook.post(Buffer.from('{"test": true}'), ping).expect(200);
      expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
    }
    const rows = await hook.deliveries();
    expect(rows.length).toBeLessThanOrEqual(2);
    expect(rows.reduce((sum, row) => sum + (row.repeats as number), 0)).toBe(5);
    expect(rows[0]).toMatchObject({ verdict: 'ignored', payload: null });
  });

  it('tell nothing about templates that listen to nobody', async () => {
    const ping = { 'X-Service-C-Event': 'diagnostics:ping' };
    const path = hooks.service_a.path('service_c_dc');
    await hooks.service_a.post(Buffer.from('{}'), ping, path).expect(403);
  });
});

describe('identity of a delivery', () => {
  it('is taken from the header with the highest rank', async () => {
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

  it('is the digest of the body for a day, where service B names none', async () => {
    const hook = await armed(test, 'service_b');
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

  it('is the digest of the body for good, where service A names none', async () => {
    const hook = await armed(test, 'service_a');
    await hook.send(firstSample('service_a'), { delivery: undefined as never }).expect(202);
    const { body } = await hook.send(firstSample('service_a'), { delivery: undefined as never });
    expect(body.message).toBe('Webhook previously received, aborting.');
    const [kept] = await hook.deliveries();
    expect(kept?.dedupe_until).toBeNull();
  });
});

describe('a template that cannot be launched', () => {
  it('is answered 400, and the same delivery launches once it can', async () => {
    const hook = await armed(test, 'service_a');
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
});

describe('the ref of an event', () => {
  const cases = [true, false].flatMap((ask) => [true, false].map((allow) => [ask, allow] as const));

  it.each(cases)('becomes the branch when asked for (%s) and allowed (%s)', async (ask, allow) => {
    const project = await test.make.project();
    await test.database.execute(
      sql`UPDATE unified_job_templates SET allow_override = ${allow} WHERE id = ${project.id}`,
    );
    const template = await test.make.jobTemplate({ project: project.id });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET ask_scm_branch_on_launch = ${ask}, scm_branch = ''
      WHERE id = ${template.id}`);
    const hook = await arm(test, template, 'service_a');
    const sample = firstSample('service_a');
    const { body } = await hook.send(sample).expect(202);
    const row = await jobOf(body.job as number);
    expect(row.scm_branch).toBe(ask && allow ? sample.ref : '');
  });
});

describe("the template's filters", () => {
  it('hold events back, which are recorded', async () => {
    const template = await test.make.jobTemplate({ webhook_filters: { refs: ['release/**'] } });
    const hook = await arm(test, template, 'service_a');
    await hook.send(firstSample('service_a')).expect(200);
    const { payload } = firstSample('service_a');
    const release = { event: 'push', payload: { ...payload, ref: 'refs/heads/release/1/2' } };
    await hook.send(release).expect(202);
    const [held, launched] = await hook.deliveries();
    expect(held).toMatchObject({ verdict: 'ignored', reason: expect.stringContaining('refs') });
    expect(launched).toMatchObject({ verdict: 'accepted', ref_name: 'refs/heads/release/1/2' });
  });
});

describe('headers of the real services', () => {
  const ALIASED: [WebhookServiceName, (body: Buffer, key: string) => Record<string, string>][] = [
    [
      'service_a',
      (body, key) => ({
        'X-GitHub-Event': 'push',
        'X-GitHub-Delivery': randomUUID(),
        'X-Hub-Signature': sign('sha1', body, key),
        'X-Hub-Signature-256': sign('sha256', body, key),
      }),
    ],
    [
      'service_b',
      (_body, key) => ({
        'X-Gitlab-Event': 'Push Hook',
        'X-Gitlab-Token': key,
        'Idempotency-Key': randomUUID(),
      }),
    ],
    [
      'service_c_dc',
      (body, key) => ({
        'X-Event-Key': 'repo:refs_changed',
        'X-Request-Id': randomUUID(),
        'X-Hub-Signature': sign('sha256', body, key),
      }),
    ],
  ];

  it.each(ALIASED)('are understood: %s', async (service, headers) => {
    const { key } = hooks[service];
    const body = bytesOf(firstSample(service));
    await hooks[service].post(body, headers(body, key)).expect(202);
  });
});
