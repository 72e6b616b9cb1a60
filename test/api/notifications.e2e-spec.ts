import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { PERSONA_NAMES } from '../support/personas.js';
import { sameQueries } from '../support/queries.js';

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
  it('answers 200 with the pending record and where it is', async () => {
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

  it('ignores other keys, as clients send them', async () => {
    await send({ anything: 1 });
  });

  it('renders the custom message of an event on request', async () => {
    const record = await send({ event: 'success' });
    const { body } = await test.as.orgAdmin.get(record.url).expect(200);
    expect(body.body).toEqual({ said: 'Stub Job is successful' });
  });

  it('refuses an event that does not exist', async () => {
    const { body } = await test.as.orgAdmin
      .post(`${template.url}test/`, { event: 'done' })
      .expect(400);
    expect(body).toEqual({ event: ['"done" is not a valid choice.'] });
  });

  it('is limited per user, and says so', async () => {
    const { headers } = await test.as.superuser.post(`${template.url}test/`, {}).expect(200);
    expect(headers['x-ratelimit-limit']).toBe('40');
    expect(headers['x-ratelimit-remaining']).toBe('39');
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(1.7e9);
    for (let i = 0; i < 45; i++) {
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

  it.each(PERSONA_NAMES)('are read by whoever reads the template: %s', async (name) => {
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
    await sameQueries(
      test.database,
      () => test.as.orgAdmin.get('notifications/?page_size=1'),
      () => test.as.orgAdmin.get('notifications/?page_size=50'),
    );
  });
});

describe('resend', () => {
  const settle = (id: number, status: string): Promise<number> =>
    test.database.execute(sql`
      UPDATE notifications SET status = ${status}, delivered = '["a"]', message_id = 'stable'
      WHERE id = ${id}`);

  it('waits for the outcome', async () => {
    const record = await send();
    const { body } = await test.as.orgAdmin.post(`${record.url}resend/`).expect(409);
    expect(body).toEqual({ detail: 'The notification is still being sent.' });
  });

  it.each([
    ['failed', 'stable', ['a']],
    ['successful', expect.not.stringMatching(/^stable$/), []],
  ])('repeats a %s one as a record of its own', async (status, messageId, delivered) => {
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

  it('needs the right to change the template', async () => {
    const record = await send();
    await settle(record.id, 'failed');
    await test.as.auditor.post(`${record.url}resend/`).expect(403);
    await test.as.orgMember.post(`${record.url}resend/`).expect(403);
  });
});
