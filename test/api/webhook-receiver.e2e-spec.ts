import { randomUUID } from 'node:crypto';

import { sql } from '../../src/database/sql.js';
import { generateWebhookKey } from '../../src/common/crypto/random-key.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { webhookService, type WebhookServiceName } from '../../src/code-hosts/services.js';
import { sign } from '../../src/code-hosts/signature.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { LOST_SECRET } from '../support/lost-key.js';
import { deliveryHeaders, firstSample, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import type { WebhookSample } from '../support/payloads/sample.js';
import { newHook, type Hook } from '../support/webhooks.js';

const FORBIDDEN = { detail: 'You do not have permission to perform this action.' };
const bytesOf = (sample: WebhookSample): Buffer => Buffer.from(JSON.stringify(sample.payload));
const signed = (service: WebhookServiceName, body: Buffer, key: string) =>
  deliveryHeaders(service, firstSample(service).event, body, key, { delivery: randomUUID() });
const proofHeader = (service: WebhookServiceName): string => {
  const { signature } = webhookService(service);
  return signature.kind === 'token' ? signature.header : signature.headers.at(-1)!.name;
};

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

describe.each(SERVICE_ROWS)('the receiver of %s', (service) => {
  it('launches a job with the webhook variables', async () => {
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

  it('refuses every request without a valid signature, with the same error', async () => {
    const hook = hooks[service];
    const body = bytesOf(firstSample(service));
    const good = signed(service, body, hook.key);
    const proof = proofHeader(service);
    const without = Object.fromEntries(
      Object.entries(good).filter(([name]) => !/signature|token/i.test(name)),
    );
    const other = await newHook(test, service);
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

  it('refuses requests from other services', async () => {
    const hook = hooks[service];
    for (const [other] of SERVICE_ROWS.filter(([name]) => name !== service)) {
      const body = bytesOf(firstSample(other));
      const answer = await hook.post(body, signed(other, body, hook.key), hook.path(other));
      expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
    }
  });

  it('refuses all requests for a template without a service', async () => {
    const template = await test.make.jobTemplate();
    const body = bytesOf(firstSample(service));
    const path = `/api/v2/job_templates/${template.id}/${service}/`;
    const answer = await hooks[service].post(body, signed(service, body, ''), path);
    expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
  });

  it('ignores API credentials in the request', async () => {
    const hook = hooks[service];
    const body = bytesOf(firstSample(service));
    const bad = { Authorization: 'Bearer nonsense' };
    await hook.post(body, { ...signed(service, body, hook.key), ...bad }).expect(202);
    const token = await test.make.token(test.as.users.superuser);
    const admin = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    await hook.post(body, admin).expect(403);
  });

  it('parses a body only after verification', async () => {
    const hook = hooks[service];
    const body = Buffer.from('{"ref": ');
    await hook.post(body, signed(service, body, generateWebhookKey())).expect(403);
    const answer = await hook.post(body, signed(service, body, hook.key)).expect(400);
    expect(Object.keys(answer.body as object)).toEqual(['detail']);
    // Unverified requests are counted, and their record can be written later.
    const verified = (await hook.deliveries()).filter((one) => one.answer !== 403);
    expect(verified.at(-1)).toMatchObject({
      verdict: 'rejected',
      answer: 400,
      payload: null,
      size: body.length,
    });
  });

  it('launches once for a repeated delivery', async () => {
    const hook = await newHook(test, service);
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

  it('separates the deliveries of two templates', async () => {
    const [one, two] = [await newHook(test, service), await newHook(test, service)];
    const delivery = randomUUID();
    await one.send(firstSample(service), { delivery }).expect(202);
    const { body } = await two.send(firstSample(service), { delivery }).expect(202);
    expect(body.message).toBe('Job queued.');
  });

  it('ignores events that are not in the table, and reports this', async () => {
    const hook = hooks[service];
    const answer = await hook.send({ event: 'wiki', payload: { a: 1 } }).expect(200);
    const { delivery } = answer.body as { delivery: number };
    expect(answer.body).toEqual({ message: 'Webhook ignored', delivery });
    // Records of earlier refusals are written later, and may follow this record.
    const kept = (await hook.deliveries()).find(({ id }) => id === delivery);
    expect(kept).toMatchObject({
      verdict: 'ignored',
      event: 'wiki',
      answer: 200,
      job_id: null,
    });
  });

  it('returns 405 for other methods, and OPTIONS describes the receiver', async () => {
    const path = hooks[service].path();
    for (const method of ['get', 'put', 'patch', 'delete']) {
      const answer = await test.as.superuser.request(method, path).expect(405);
      expect(answer.headers.allow).toBe('POST, OPTIONS');
    }
    await test.as.anonymous.options(path).expect(200);
  });
});

describe('signatures of service A', () => {
  const sample = firstSample('service_a');
  const body = bytesOf(sample);
  const base = { 'Content-Type': 'application/json', 'X-Service-A-Event': 'push' };
  const send = (headers: Record<string, string>) =>
    hooks.service_a.post(body, { ...base, 'X-Service-A-Delivery': randomUUID(), ...headers });

  it('may be SHA-1, as in the contract, SHA-256, or both', async () => {
    const { key } = hooks.service_a;
    const one = { 'X-Service-A-Signature': sign('sha1', body, key) };
    const two = { 'X-Service-A-Signature-256': sign('sha256', body, key) };
    await send(one).expect(202);
    await send(two).expect(202);
    await send({ ...one, ...two }).expect(202);
  });

  it('must both be right if there are two', async () => {
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

  it('are refused if they name another algorithm', async () => {
    const { key } = hooks.service_a;
    await send({ 'X-Service-A-Signature': sign('sha256', body, key) }).expect(403);
    await send({ 'X-Service-A-Signature-256': sign('sha1', body, key) }).expect(403);
  });

  it('are accepted for form data too', async () => {
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

  it('do not permit form data for service B', async () => {
    const form = Buffer.from('payload=%7B%7D');
    const contentType = 'application/x-www-form-urlencoded';
    const { key } = hooks.service_b;
    const headers = deliveryHeaders('service_b', 'Push Hook', form, key, { contentType });
    await hooks.service_b.post(form, headers).expect(400);
  });
});

describe('the headers of the real services', () => {
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

  it.each(ALIASED)('are accepted: %s', async (service, headers) => {
    const { key } = hooks[service];
    const body = bytesOf(firstSample(service));
    await hooks[service].post(body, headers(body, key)).expect(202);
  });
});

it('a key that cannot be decrypted refuses all requests, with the reason in the log', async () => {
  const hook = await newHook(test, 'service_a');
  await test.database.execute(sql`
    UPDATE unified_job_templates SET webhook_key = ${LOST_SECRET} WHERE id = ${hook.template.id}`);
  const refused = await hook.send(firstSample('service_a')).expect(403);
  expect(refused.body).toEqual(FORBIDDEN);
  await eventually(async () => {
    const [{ verdict, reason }] = (await hook.deliveries()) as [Row];
    expect({ verdict, reason }).toEqual({
      verdict: 'rejected',
      reason: 'The webhook key cannot be decrypted with the current keys. Create a new key.',
    });
  });
});
