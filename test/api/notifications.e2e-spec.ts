import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { canary, configurationsFor } from '../support/fakes/notification-configurations.js';
import { PERSONA_NAMES } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let template: { id: number; url: string };

beforeAll(async () => {
  test = await boot({ settings: { NOTIFICATION_TEST_RATE: '40' } });
  const { body } = await test.as.orgAdmin
    .post('notification_templates/', {
      name: 'hook',
      organization: test.home.organization.id,
      notification_type: 'webhook',
      notification_configuration: configurationsFor({ http: 9 }).webhook,
      messages: { success: { body: '{"said": "{{ job.name }} is {{ job.status }}"}' } },
    })
    .expect(201);
  template = body;
});
afterAll(() => test.close());

async function send(body: object = {}): Promise<{ id: number; url: string }> {
  const { body: record } = await test.as.orgAdmin.post(`${template.url}test/`, body).expect(200);
  return record;
}

describe('test', () => {
  it('returns 200 with the pending record and its location', async () => {
    const { body, headers } = await test.as.orgAdmin.post(`${template.url}test/`, {}).expect(200);
    expect(headers.location).toBe(`/api/v2/notifications/${body.id}/`);
    expect(body).toMatchObject({
      notification: body.id,
      type: 'notification',
      status: 'pending',
      notification_type: 'webhook',
      recipients: 'http://127.0.0.1:9/hooks/***',
      event: 'test',
    });
    expect(body.subject).toMatch(new RegExp(`^Notification Test ${template.id} http`));
    expect(body.body.body).toMatch(/^Test Notification/);
  });

  it('ignores other keys that clients send', async () => {
    await send({ anything: 1 });
  });

  it('renders the custom message of an event on request', async () => {
    const record = await send({ event: 'success' });
    const { body } = await test.as.orgAdmin.get(record.url).expect(200);
    expect(body.body).toEqual({ said: 'Stub Job is successful' });
  });

  it('refuses an unknown event', async () => {
    const { body } = await test.as.orgAdmin
      .post(`${template.url}test/`, { event: 'done' })
      .expect(400);
    expect(body).toEqual({ event: ['"done" is not a valid choice.'] });
  });

  it('is limited for each user, with an explanation', async () => {
    const { headers } = await test.as.superuser.post(`${template.url}test/`, {}).expect(200);
    expect(headers['x-ratelimit-limit']).toBe('40');
    expect(headers['x-ratelimit-remaining']).toBe('39');
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(1.7e9);
    // A minute of the limit can end between two requests; its requests are then counted from zero.
    for (let i = 0; i <= 2 * 40; i++) {
      const { status } = await test.as.outsider.post(`${template.url}test/`, {});
      if (status === 429) return;
      expect(status).toBe(403);
    }
    throw new Error('never limited');
  });
});

describe('records', () => {
  it.each(['post', 'put', 'patch', 'delete'])('cannot be written: %s', async (method) => {
    const record = await send();
    const path = method === 'post' ? 'notifications/' : record.url;
    await test.as.superuser.request(method, path, {}).expect(405);
  });

  it.each(PERSONA_NAMES)('are readable with the template: %s', async (name) => {
    const record = await send();
    const reads = ['superuser', 'auditor', 'orgAdmin'].includes(name);
    await test.as[name].get(record.url).expect(reads ? 200 : 403);
    await test.as[name].get(`${record.url}attempts/`).expect(reads ? 200 : 403);
    const { body } = await test.as[name].get(`notifications/?id=${record.id}`).expect(200);
    expect(body.count).toBe(reads ? 1 : 0);
  });

  it('are filtered, searched and listed below their template', async () => {
    const record = await send({ event: 'success' });
    const found = async (query: string): Promise<number[]> => {
      const { body } = await test.as.orgAdmin
        .get(`notifications/?page_size=200&${query}`)
        .expect(200);
      return (body.results as { id: number }[]).map(({ id }) => id);
    };
    const mine = `notification_template=${template.id}&status=pending&notification_type=webhook`;
    expect(await found(`${mine}&created__gte=2020-01-01`)).toContain(record.id);
    expect(await found('created__gte=2999-01-01')).toEqual([]);
    expect(await found('search=Stub')).toContain(record.id);
    expect(await found('search=nowhere')).toEqual([]);
    const below = await test.as.orgAdmin
      .get(`${template.url}notifications/?id=${record.id}`)
      .expect(200);
    expect(below.body.count).toBe(1);
    for (let sent = 1; sent < 10; sent += 1) await send();
    await samePageQueries(test.database, test.as.orgAdmin, 'notifications/', [1, 10]);
  });
});

describe('history', () => {
  /** Three firings of a job and one of another, as the notifier leaves them. */
  async function history(): Promise<{ job: number; other: number; ids: number[]; made: Row }> {
    const made = await test.make.notificationTemplate({ organization: test.home.organization.id });
    const [job, other] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, organization_id)
      VALUES ('job', 'first', 'failed', ${test.home.organization.id}),
        ('job', 'second', 'successful', ${test.home.organization.id}) RETURNING id`);
    const rows = await test.database.rows<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, notification_type, event,
        status, error, notifications_sent, recipients, subject, body, attempts, message_id, created)
      SELECT ${made.id}, run, type, event, status, error, sent, '["a"]', subject,
        json_build_object('body', subject), 1, subject, created::timestamptz
      FROM (VALUES
        (${job!.id}::bigint, 'webhook', 'started', 'successful', '', 1, 'alpha', '2026-01-01T10:00Z'),
        (${job!.id}::bigint, 'webhook', 'error', 'failed', 'refused: 500', 0, 'beta', '2026-01-02T10:00Z'),
        (${job!.id}::bigint, 'email', 'success', 'pending', '', 0, 'gamma', '2026-01-03T10:00Z'),
        (${other!.id}::bigint, 'webhook', 'success', 'successful', '', 2, 'delta', '2026-01-04T10:00Z')
      ) AS given(run, type, event, status, error, sent, subject, created)
      ORDER BY created RETURNING id`);
    const ids = rows.map(({ id }) => id);
    await test.database.execute(sql`
      INSERT INTO notification_attempts (notification_id, number, successful, status_code, detail,
        duration_ms)
      VALUES (${ids[1]}, 1, FALSE, 503, 'down', 10), (${ids[1]}, 2, FALSE, 500, 'broken', 30),
        (${ids[0]}, 1, TRUE, 200, 'ok', 20)`);
    return { job: job!.id, other: other!.id, ids, made };
  }

  const positions = async (path: string, ids: number[]): Promise<number[]> => {
    const { body } = await test.as.orgAdmin.get(path).expect(200);
    expect(body.count).toBe(body.results.length);
    return (body.results as { id: number }[]).map(({ id }) => ids.indexOf(id));
  };

  it('can be filtered by the fields of the contract and by every other field', async () => {
    const { ids, made } = await history();
    const cases: [query: string, found: number[]][] = [
      ['', [0, 1, 2, 3]],
      ['status=failed', [1]],
      ['status__in=failed,pending', [1, 2]],
      ['not__status=successful', [1, 2]],
      ['notification_type=email', [2]],
      ['created__gte=2026-01-02T10:00:00Z', [1, 2, 3]],
      ['created__gte=2026-01-02', [1, 2, 3]],
      ['created__gt=2026-01-02T10:00:00Z', [2, 3]],
      ['created__lt=2026-01-02T10:00:00Z', [0]],
      ['created__gte=2026-01-02&created__lte=2026-01-03T10:00:00Z&status=failed', [1]],
      ['or__status=failed&or__event=started', [0, 1]],
      ['chain__status=successful&chain__event=success', [3]],
      ['event=success', [2, 3]],
      ['error__icontains=REFUSED', [1]],
      ['notifications_sent__gte=1', [0, 3]],
      ['subject__startswith=al', [0]],
      ['search=delta', [3]],
      ['search=email', [2]],
      ['resend_of__isnull=true&order_by=-created', [3, 2, 1, 0]],
      ['order_by=notification_type,-id', [2, 3, 1, 0]],
      ['notification_template__name=nothing', []],
      ['next_attempt_at__isnull=false', []],
    ];
    for (const [query, found] of cases) {
      const path = `notifications/?notification_template=${made.id}&${query}`;
      expect([query, await positions(path, ids)]).toEqual([query, found]);
      const below = `notification_templates/${made.id}/notifications/?${query}`;
      expect([query, await positions(below, ids)]).toEqual([query, found]);
    }
  });

  it('is listed below its runs, with filters', async () => {
    const { job, other, ids } = await history();
    expect(await positions(`jobs/${job}/notifications/`, ids)).toEqual([0, 1, 2]);
    expect(await positions(`jobs/${job}/notifications/?status=failed`, ids)).toEqual([1]);
    expect(await positions(`jobs/${other}/notifications/?order_by=-id`, ids)).toEqual([3]);
    const { body } = await test.as.orgAdmin.get(`jobs/${job}/`).expect(200);
    expect(body.related.notifications).toBe(`/api/v2/jobs/${job}/notifications/`);
    const page = await test.as.orgAdmin.get(
      `jobs/${job}/notifications/?page_size=2&count_disabled=1`,
    );
    expect(page.body).not.toHaveProperty('count');
    expect(page.body.next).toContain('page=2');
  });

  it.each(['project_updates', 'workflow_jobs'])('is listed below %s', async (path) => {
    const { ids } = await history();
    const run = await test.database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, organization_id)
      VALUES (${path.slice(0, -1)}, 'run', 'failed', ${test.home.organization.id}) RETURNING id`);
    await test.database.execute(sql`
      UPDATE notifications SET unified_job_id = ${run!.id} WHERE id = ${ids[1]}`);
    const { body } = await test.as.superuser
      .get(`${path}/${run!.id}/notifications/?status=failed`)
      .expect(200);
    expect(body.results.map(({ id }: { id: number }) => id)).toEqual([ids[1]]);
  });

  it('has attempts with their own filters', async () => {
    const { ids } = await history();
    const numbers = async (query: string): Promise<number[]> => {
      const { body } = await test.as.orgAdmin.get(`notifications/${ids[1]}/attempts/?${query}`);
      return (body.results as { number: number }[]).map(({ number }) => number);
    };
    expect(await numbers('')).toEqual([1, 2]);
    expect(await numbers('order_by=-number')).toEqual([2, 1]);
    expect(await numbers('status_code=500')).toEqual([2]);
    expect(await numbers('status_code__gte=500&successful=false&detail__icontains=DOWN')).toEqual([
      1,
    ]);
    expect(await numbers('duration_ms__lt=20')).toEqual([1]);
    const all = await test.as.orgAdmin
      .get(`notification_attempts/?notification__in=${ids[0]},${ids[1]}&successful=true`)
      .expect(200);
    expect(all.body.count).toBe(1);
  });

  it.each([
    ['nothing=1', 'nothing'],
    ['order_by=nothing', 'nothing'],
    ['message_id=x', 'message_id'],
    ['created__gte=yesterday', 'yesterday'],
  ])('refuses %s', async (query, name) => {
    const { body } = await test.as.orgAdmin.get(`notifications/?${query}`).expect(400);
    expect(body.detail).toContain(name);
  });
});

it('a template shows whether deliveries to its destination are paused', async () => {
  const made = await test.make.notificationTemplate({ organization: test.home.organization.id });
  const breaker = async (): Promise<unknown> =>
    (await test.as.auditor.get(`notification_templates/${made.id}/`).expect(200)).body
      .summary_fields.circuit_breaker;
  const fail = (failures: number, minutes: number): Promise<number> =>
    test.database.execute(sql`
      INSERT INTO outbound_breakers (destination, failures, open_until)
      VALUES (${made.destination}, ${failures}, now() + make_interval(mins => ${minutes}))
      ON CONFLICT (destination) DO UPDATE SET failures = EXCLUDED.failures,
        open_until = EXCLUDED.open_until`);
  expect(await breaker()).toEqual({ state: 'closed', failures: 0, open_until: null });
  await fail(2, -1);
  expect(await breaker()).toEqual({ state: 'closed', failures: 2, open_until: null });
  await fail(5, 10);
  expect(await breaker()).toEqual({
    state: 'open',
    failures: 5,
    open_until: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
  const { text } = await test.as.superuser.get('/metrics').expect(200);
  expect(text).toMatch(/^controller_open_breakers\{kind="webhook"\} 1$/m);
  await fail(5, -1);
  expect(await breaker()).toEqual({ state: 'half_open', failures: 5, open_until: null });
});

it('the secret parts of a URL are visible only to users who may change the template', async () => {
  const path = `notification_templates/${template.id}/`;
  const url = async (name: 'orgAdmin' | 'auditor'): Promise<unknown> =>
    (await test.as[name].get(path).expect(200)).body.notification_configuration.url;
  expect(await url('orgAdmin')).toBe(`http://127.0.0.1:9/hooks/${canary('url')}`);
  expect(await url('auditor')).toBe('http://127.0.0.1:9/hooks/***');
  const { body } = await test.as.auditor.get(`notification_templates/?id=${template.id}`);
  expect(body.results[0].notification_configuration.url).toBe('http://127.0.0.1:9/hooks/***');
});

describe('resend', () => {
  const settle = (id: number, status: string): Promise<number> =>
    test.database.execute(sql`
      UPDATE notifications SET status = ${status}, delivered = '["a"]', message_id = 'stable'
      WHERE id = ${id}`);

  it('waits for the result', async () => {
    const record = await send();
    const { body } = await test.as.orgAdmin.post(`${record.url}resend/`).expect(409);
    expect(body).toEqual({ detail: 'The notification is still being sent.' });
  });

  it.each([
    ['failed', 'stable', ['a']],
    ['successful', expect.not.stringMatching(/^stable$/), []],
  ])('repeats a %s notification as a new record', async (status, messageId, delivered) => {
    const record = await send();
    await settle(record.id, status);
    const { body, headers } = await test.as.orgAdmin.post(`${record.url}resend/`).expect(202);
    expect(headers.location).toBe(body.url);
    expect(body).toMatchObject({ status: 'pending', resend_of: record.id, attempts: 0 });
    const row = await test.database.row(sql`
      SELECT message_id, delivered FROM notifications WHERE id = ${body.id}`);
    expect(row).toEqual({ message_id: messageId, delivered });
    const { body: stream } = await test.as.orgAdmin
      .get(`activity_stream/?object1=notification&order_by=-id`)
      .expect(200);
    expect(stream.results[0]).toMatchObject({
      operation: 'create',
      changes: { id: body.id, resend_of: record.id },
    });
  });

  it('sends once for simultaneous requests, and again after the result', async () => {
    const record = await send();
    await settle(record.id, 'failed');
    const path = `${record.url}resend/`;
    const answers = await Promise.all([1, 2, 3].map(() => test.as.orgAdmin.post(path)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
    await settle(answers.find(({ status }) => status === 202)?.body.id, 'failed');
    await test.as.orgAdmin.post(path).expect(202);
  });

  it('requires admin on the template', async () => {
    const record = await send();
    await settle(record.id, 'failed');
    await test.as.auditor.post(`${record.url}resend/`).expect(403);
    await test.as.orgMember.post(`${record.url}resend/`).expect(403);
  });
});
