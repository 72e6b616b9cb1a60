import { randomUUID } from 'node:crypto';

import { responseBody, type ShownDelivery } from '../../src/browser/webhooks/delivery.panel.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { Cleanups, sumOfBatches } from '../../src/system-jobs/cleanups.js';
import { ReceiverTemplates } from '../../src/webhooks/receiver-templates.service.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { longestTurn } from '../support/event-loop.js';
import { deliveryHeaders, webhookSample } from '../support/payloads/webhooks.js';
import type { PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';
import { addHook, newHook, type Hook } from '../support/webhooks.js';

const PUSH = webhookSample('service_a', 'push');
const PULL_REQUEST = webhookSample('service_a', 'pull_request');

let test: TestApp;
let hook: Hook;
let delivery: number;

/** A template of the personas' organization. */
async function homeHook(fields: Record<string, unknown> = {}): Promise<Hook> {
  const organization = test.home.organization.id;
  const project = await test.make.project({ organization });
  const inventory = await test.make.inventory({ organization });
  const ids = { project: project.id, inventory: inventory.id };
  return addHook(test, await test.make.jobTemplate({ ...ids, ...fields }), 'service_a');
}

beforeAll(async () => {
  test = await boot();
  hook = await homeHook();
  await test.make.grant('job_template', hook.template, 'admin_role', {
    user: test.as.users.teamAdmin,
  });
  await test.make.grant('job_template', hook.template, 'execute_role', { team: test.home.team });
  const { body } = await hook.send(PUSH).expect(202);
  delivery = body.delivery as number;
});
afterAll(() => test.close());

describe('the delivery log', () => {
  const READERS: PersonaName[] = ['superuser', 'auditor', 'orgAdmin', 'teamAdmin', 'teamMember'];
  const OTHERS: PersonaName[] = ['orgMember', 'outsider', 'nobody'];

  it.each(READERS)('is readable with the template: %s', async (persona) => {
    const client = test.as[persona];
    const { body } = await client.get(`webhook_deliveries/?id=${delivery}`).expect(200);
    expect(body.count).toBe(1);
    await client.get(`webhook_deliveries/${delivery}/`).expect(200);
    const path = `job_templates/${hook.template.id}/webhook_deliveries/`;
    expect((await client.get(path).expect(200)).body.count).toBeGreaterThan(0);
  });

  it.each(OTHERS)('is not readable for others: %s', async (persona) => {
    const client = test.as[persona];
    const { body } = await client.get(`webhook_deliveries/?id=${delivery}`).expect(200);
    expect(body.count).toBe(0);
    await client.get(`webhook_deliveries/${delivery}/`).expect(403);
    await client.get(`job_templates/${hook.template.id}/webhook_deliveries/`).expect(403);
  });

  it('requires a login, and returns 404 for other ids', async () => {
    await test.as.anonymous.get('webhook_deliveries/').expect(401);
    await test.as.superuser.get('webhook_deliveries/999999/').expect(404);
    await test.as.superuser.delete(`webhook_deliveries/${delivery}/`).expect(405);
  });

  it('shows the delivery, its sender and its result', async () => {
    const { body } = await test.as.orgAdmin.get(`webhook_deliveries/${delivery}/`).expect(200);
    expect(body).toMatchObject({
      type: 'webhook_delivery',
      template: hook.template.id,
      service: 'service_a',
      event: 'push',
      ref: PUSH.ref,
      ref_name: PUSH.refName,
      verdict: 'accepted',
      answer: 202,
      size: Buffer.byteLength(JSON.stringify(PUSH.payload)),
      source: '127.0.0.1',
      repeats: 1,
      redelivery_of: null,
      payload: PUSH.payload,
      summary_fields: { user_capabilities: { redeliver: true } },
    });
    expect(body.related.redeliver).toBe(`/api/v2/webhook_deliveries/${delivery}/redeliver/`);
    expect(body.related.job).toBe(`/api/v2/jobs/${body.job}/`);
    for (const hidden of ['dedupe_key', 'status_api', 'dedupe_until']) {
      expect(body).not.toHaveProperty(hidden);
    }
  });

  it.each<PersonaName>(['auditor', 'teamMember'])(
    'shows payloads only to admins of the template, not to %s',
    async (persona) => {
      const { body } = await test.as[persona].get(`webhook_deliveries/${delivery}/`).expect(200);
      expect(body).not.toHaveProperty('payload');
      expect(body.summary_fields.user_capabilities).toEqual({ redeliver: false });
      expect(body.related).not.toHaveProperty('redeliver');
    },
  );

  it('has no payloads in lists, and no filters by hidden fields', async () => {
    const { body } = await test.as.superuser.get('webhook_deliveries/').expect(200);
    for (const row of body.results as object[]) expect(row).not.toHaveProperty('payload');
    await test.as.superuser.get('webhook_deliveries/?payload__contains=x').expect(400);
    await test.as.superuser.get('webhook_deliveries/?dedupe_key=x').expect(400);
    await test.as.superuser.get('webhook_deliveries/?verdict=accepted&search=push').expect(200);
  });

  it('is linked from the template', async () => {
    const { body } = await test.as.superuser.get(`job_templates/${hook.template.id}/`);
    const path = `/api/v2/job_templates/${hook.template.id}/webhook_deliveries/`;
    expect(body.related.webhook_deliveries).toBe(path);
  });

  it('needs as many statements for many deliveries as for one', async () => {
    const many = await homeHook();
    for (let sent = 0; sent < 8; sent += 1) await many.send(PUSH).expect(202);
    const path = `job_templates/${many.template.id}/webhook_deliveries/`;
    await samePageQueries(test.database, test.as.orgAdmin, path, [1, 8]);
  });
});

describe('the page of a delivery', () => {
  const representations = async ({ template }: Hook): Promise<ShownDelivery[]> => {
    const path = `webhook_deliveries/?template=${template.id}&order_by=id`;
    return (await test.as.superuser.get(path).expect(200)).body.results as ShownDelivery[];
  };

  it('shows the body of the response that the code host received', async () => {
    const target = await homeHook();
    const git = { scm_type: 'git', scm_url: 'https://code.invalid/project.git' };
    const project = await addHook(test, await test.make.project(git), 'service_a');
    const unsigned = await newHook(test, 'service_c_dc');
    const sent = { delivery: randomUUID() };
    const noJson = Buffer.from('{');
    const signed = deliveryHeaders('service_a', 'push', noJson, target.key, {
      delivery: randomUUID(),
    });
    const responses = [
      await target.send(PUSH, sent).expect(202),
      await target.send(PUSH, sent).expect(202),
      await target.send({ event: 'ping', payload: {} }).expect(200),
      await target.post(noJson, signed).expect(400),
      await target.post(noJson, { 'X-Service-A-Event': 'push' }).expect(403),
      await project.send(PUSH).expect(202),
      await unsigned
        .post(Buffer.from('{}'), { 'X-Service-C-Event': 'diagnostics:ping' })
        .expect(200),
    ];
    await test.app.get(RejectionLog, { strict: false }).flush();
    const rows = [target, project, unsigned].map(representations);
    const shown = (await Promise.all(rows)).flat();
    expect(shown.map(responseBody)).toEqual(responses.map(({ body }) => body as object));

    const [first] = shown;
    const page = await test.as.superuser
      .get(`webhook_deliveries/${first!.id}/`)
      .set('Accept', 'text/html');
    expect(page.text).toMatch(/aria-label="Body of the response"[^]*Job queued\./);
    expect(responseBody({ ...first!, job: null })).toBeNull();
  });
});

describe('requests without a valid signature', () => {
  it('are counted in one record for each second, without their bodies', async () => {
    const victim = await homeHook();
    const headers = { 'X-Service-A-Event': 'push', 'X-Service-A-Signature': 'sha1=00' };
    for (let sent = 0; sent < 20; sent += 1) {
      await victim.post(Buffer.from('{"secret": 1}'), headers).expect(403);
    }
    await test.app.get(RejectionLog, { strict: false }).flush();
    const rows = await victim.deliveries();
    expect(rows.length).toBeLessThanOrEqual(3);
    expect(rows.reduce((sum, row) => sum + (row.repeats as number), 0)).toBe(20);
    expect(rows[0]).toMatchObject({ verdict: 'rejected', answer: 403, payload: null, size: 13 });
    const { body } = await test.as.orgAdmin.get(`webhook_deliveries/${rows[0]!.id}/`).expect(200);
    expect(body.reason).toContain('does not match the webhook key');
  });
});

describe('redelivery', () => {
  const redeliver = (id: number) => `webhook_deliveries/${id}/redeliver/`;

  it('launches again, with a new id, and is recorded', async () => {
    const { body } = await test.as.teamAdmin.post(redeliver(delivery), {}).expect(202);
    expect(body).toMatchObject({ message: 'Job queued.', url: `/api/v2/jobs/${body.job}/` });
    const [before, after] = [await rowOf(delivery), await rowOf(body.delivery as number)];
    expect(after).toMatchObject({
      verdict: 'accepted',
      redelivery_of_id: delivery,
      event: before.event,
      ref: before.ref,
      payload: before.payload,
      status_api: before.status_api,
    });
    expect(after.guid).not.toBe(before.guid);
    const job = await test.as.superuser.get(`jobs/${body.job}/`).expect(200);
    expect(job.body).toMatchObject({ launch_type: 'webhook', webhook_guid: after.guid });
    const trail = await test.as.superuser.get(
      `activity_stream/?object1=job_template&object_association=redeliver&order_by=-id`,
    );
    expect(trail.body.results[0]).toMatchObject({
      operation: 'update',
      changes: { redelivered: [delivery, body.delivery] },
      summary_fields: { actor: { username: 'teamAdmin' } },
    });
  });

  it('can be requested below the template, for its own deliveries', async () => {
    const other = await homeHook();
    const below = (template: Row) =>
      `job_templates/${template.id}/webhook_deliveries/${delivery}/redeliver/`;
    await test.as.orgAdmin.post(below(hook.template), {}).expect(202);
    await test.as.orgAdmin.post(below(other.template), {}).expect(404);
    await test.as.superuser
      .post(`job_templates/${hook.template.id}/webhook_deliveries/x/redeliver/`, {})
      .expect(404);
  });

  it.each<[PersonaName, number]>([
    ['superuser', 202],
    ['orgAdmin', 202],
    ['teamMember', 403],
    ['auditor', 403],
    ['orgMember', 403],
    ['outsider', 403],
  ])('is permitted to admins of the template: %s %d', async (persona, status) => {
    await test.as[persona].post(redeliver(delivery), {}).expect(status);
  });

  it('applies the current filters', async () => {
    const mine = await homeHook();
    const first = await mine.send(PUSH).expect(202);
    await test.database.execute(sql`
      UPDATE unified_job_templates SET webhook_filters = '{"events": ["release"]}'
      WHERE id = ${mine.template.id}`);
    const { body } = await test.as.orgAdmin.post(redeliver(first.body.delivery as number), {});
    expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
    expect(await mine.jobs()).toHaveLength(1);
  });

  it('requires a stored payload', async () => {
    const mine = await homeHook();
    const id = randomUUID();
    await mine.send(PUSH, { delivery: id }).expect(202);
    const { body } = await mine.send(PUSH, { delivery: id }).expect(202);
    const shown = await test.as.orgAdmin.get(`webhook_deliveries/${body.delivery}/`).expect(200);
    expect(shown.body.summary_fields.user_capabilities).toEqual({ redeliver: false });
    const answer = await test.as.orgAdmin.post(redeliver(body.delivery as number), {}).expect(400);
    expect(answer.body.detail).toContain('not stored');
  });

  it('requires a template with the same service', async () => {
    const mine = await homeHook();
    const { body } = await mine.send(PUSH).expect(202);
    await addHook(test, mine.template, 'service_b');
    await test.as.orgAdmin.post(redeliver(body.delivery as number), {}).expect(400);
  });

  it('with an Idempotency-Key runs once', async () => {
    const mine = await homeHook();
    const first = await mine.send(PUSH).expect(202);
    const client = test.as.orgAdmin.with({ 'Idempotency-Key': randomUUID() });
    const path = redeliver(first.body.delivery as number);
    // Combines reads of simultaneous deliveries, which must not join the transaction of the key.
    const find = jest.spyOn(test.app.get(ReceiverTemplates, { strict: false }), 'find');
    const answers = await Promise.all([client.post(path, {}), client.post(path, {})]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    expect(find).not.toHaveBeenCalled();
    find.mockRestore();
    expect(await mine.jobs()).toHaveLength(2);
  });

  it('with an Idempotency-Key is recorded once if the template cannot be launched', async () => {
    const mine = await homeHook();
    const first = await mine.send(PUSH).expect(202);
    await test.database.execute(sql`
      UPDATE unified_job_templates SET inventory_id = NULL WHERE id = ${mine.template.id}`);
    const client = test.as.orgAdmin.with({ 'Idempotency-Key': randomUUID() });
    const path = redeliver(first.body.delivery as number);
    const refused = (await client.post(path, {}).expect(400)).body as object;
    expect(refused).toEqual({ detail: expect.stringContaining('cannot be launched') });
    expect((await client.post(path, {}).expect(400)).body).toEqual(refused);
    const rows = await test.database.rows(sql`
      SELECT verdict FROM webhook_deliveries WHERE redelivery_of_id = ${first.body.delivery}`);
    expect(rows).toEqual([{ verdict: 'rejected' }]);
    expect(await mine.jobs()).toHaveLength(1);
  });
});

it('the log outlives its template, which can be deleted after its jobs have ended', async () => {
  const mine = await homeHook();
  const { body } = await mine.send(PUSH).expect(202);
  const url = `job_templates/${mine.template.id}/`;
  await test.as.orgAdmin.post(`jobs/${body.job}/cancel/`).expect(202);
  await test.as.orgAdmin.delete(url).expect(204);
  const kept = await test.as.superuser.get(`webhook_deliveries/${body.delivery}/`).expect(200);
  expect(kept.body).toMatchObject({ template: null, verdict: 'accepted', job: body.job });
  await test.as.orgAdmin.get(`jobs/${body.job}/`).expect(200);
  const again = await test.as.superuser
    .post(`webhook_deliveries/${body.delivery}/redeliver/`, {})
    .expect(400);
  expect(again.body.detail).toContain('no longer receives webhooks of this service');
});

describe('the test of filters', () => {
  let tried: Hook;
  const path = () => `job_templates/${tried.template.id}/webhook_filters/test/`;

  beforeAll(async () => {
    tried = await homeHook();
    await tried.send(PUSH).expect(202);
    await tried.send(PULL_REQUEST).expect(202);
    await tried.send({ event: 'ping', payload: {} }).expect(200);
  });

  it('shows which stored deliveries would have launched', async () => {
    const webhook_filters = { actions: ['opened'], equals: { '/number': 12 } };
    const { body } = await test.as.orgAdmin.post(path(), { webhook_filters }).expect(200);
    expect(body).toMatchObject({ launches: 1, count: 3 });
    expect(body.results).toEqual([
      expect.objectContaining({ event: 'ping', verdict: 'ignored', launches: false }),
      expect.objectContaining({ event: 'pull_request', launches: true, reason: '' }),
      expect.objectContaining({
        event: 'push',
        launches: false,
        reason: 'The event has no action.',
      }),
    ]);
  });

  it('uses the filters of the template by default', async () => {
    const { body } = await test.as.orgAdmin.post(path(), {}).expect(200);
    expect(body.launches).toBe(2);
    expect(await tried.jobs()).toHaveLength(2);
  });

  it.each([[{ event: [] }], [[]], ['x'], [7], [{ equals: { a: 1 } }]])(
    'refuses invalid filters: %j',
    async (webhook_filters) => {
      const { body } = await test.as.orgAdmin.post(path(), { webhook_filters }).expect(400);
      expect(body).toEqual({ webhook_filters: [expect.any(String)] });
    },
  );

  it('lets other requests continue, however expensive the patterns are', async () => {
    const busy = await homeHook();
    await busy.send(PUSH).expect(202);
    await test.database.execute(sql`
      INSERT INTO webhook_deliveries (template_id, service, event, verdict, ref_name, payload)
      SELECT template_id, service, event, verdict, ${'ab'.repeat(500)}, payload
      FROM webhook_deliveries, generate_series(1, 99) WHERE template_id = ${busy.template.id}`);
    const refs = Array.from({ length: 10 }, (_one, index) => `${'?*a*'.repeat(63)}z${index}`);
    const url = `job_templates/${busy.template.id}/webhook_filters/test/`;
    const turn = await longestTurn(() =>
      test.as.orgAdmin.post(url, { webhook_filters: { refs } }).expect(200),
    );
    expect(turn).toBeLessThan(150);
  });

  it('is permitted to users who may change the template', async () => {
    await test.as.auditor.post(path(), {}).expect(403);
    await test.as.outsider.post(path(), {}).expect(403);
    await test.as.anonymous.post(path(), {}).expect(401);
  });
});

describe('retention', () => {
  it('deletes old deliveries, and keeps a summary for existing jobs', async () => {
    const old = await newHook(test, 'service_a');
    await old.send(PUSH).expect(202);
    await old.send(PUSH).expect(202);
    await old.send({ event: 'ping', payload: {} }).expect(200);
    const [finished] = await old.jobs();
    await test.database.execute(sql`
      UPDATE unified_jobs SET status = 'successful', finished = now() WHERE id = ${finished!.id}`);
    const removal = test.app.get(Cleanups, { strict: false }).of('cleanup_webhook_deliveries', 30);
    const counts = async () => [await removal.count(), await sumOfBatches(removal.batches())];
    expect(await counts()).toEqual([0, 0]);
    await test.database.execute(sql`
      UPDATE webhook_deliveries SET received = now() - interval '31 days'
      WHERE template_id = ${old.template.id}`);
    expect(await counts()).toEqual([1, 1]);
    const [over, active] = await old.deliveries();
    expect(over).toMatchObject({ job_id: finished!.id, ref: PUSH.ref, payload: null });
    expect(active?.payload).not.toBeNull();
  });
});

async function rowOf(id: number): Promise<Row> {
  const row = await test.database.row<Row>(sql`SELECT * FROM webhook_deliveries WHERE id = ${id}`);
  return row!;
}
