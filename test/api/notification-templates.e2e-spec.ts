import { NOTIFICATION_TYPES } from '../../src/notifications/backends/notification-type.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { canary, configurationsFor } from '../support/fakes/notification-configurations.js';
import { PERSONA_NAMES } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

const CONFIGURATIONS = configurationsFor({ http: 9, smtp: 9, irc: 9 });
const CANARY = /canary-[a-z-]+-9f3b/;

let test: TestApp;
let counter = 0;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const bodyOf = (type: (typeof NOTIFICATION_TYPES)[number], more: object = {}): object => ({
  name: `template ${(counter += 1)}`,
  organization: test.home.organization.id,
  notification_type: type,
  notification_configuration: CONFIGURATIONS[type],
  ...more,
});

async function create(type: (typeof NOTIFICATION_TYPES)[number], more: object = {}) {
  const { body } = await test.as.orgAdmin
    .post('notification_templates/', bodyOf(type, more))
    .expect(201);
  return body as { id: number; url: string; name: string; notification_configuration: object };
}

describe('configuration', () => {
  it.each(NOTIFICATION_TYPES)(
    '%s: masks secrets and keeps them when they are sent back masked',
    async (type) => {
      const made = await create(type);
      const shown = JSON.stringify({ ...made.notification_configuration, url: '' });
      expect(shown).not.toMatch(CANARY);
      const before = await storedOf(made.id);
      expect(JSON.stringify(before)).not.toMatch(CANARY);
      const { body } = await test.as.orgAdmin
        .patch(made.url, {
          description: 'changed',
          notification_configuration: made.notification_configuration,
        })
        .expect(200);
      expect(body.notification_configuration).toEqual(made.notification_configuration);
      // Without a difference, nothing is encrypted again.
      expect(await storedOf(made.id)).toEqual(before);
    },
  );

  it('names all missing keys together', async () => {
    const { body } = await test.as.orgAdmin
      .post('notification_templates/', bodyOf('irc', { notification_configuration: {} }))
      .expect(400);
    expect(body).toEqual({
      __all__: [
        "Missing required fields for Notification Configuration: ['server', 'port', 'nickname', 'password', 'use_ssl', 'targets'].",
      ],
    });
  });

  it('is required, and cannot keep a secret on creation', async () => {
    const none = bodyOf('chat_a', { notification_configuration: undefined });
    const missing = await test.as.orgAdmin.post('notification_templates/', none).expect(400);
    expect(missing.body).toEqual({ notification_configuration: ['This field is required.'] });
    const masked = { token: '$encrypted$', channels: ['a'] };
    const refused = await test.as.orgAdmin
      .post('notification_templates/', bodyOf('chat_a', { notification_configuration: masked }))
      .expect(400);
    expect(refused.body.__all__[0]).toContain('there is no stored value to keep');
  });

  it('must be sent when the type changes', async () => {
    const made = await create('chat_a');
    const { body } = await test.as.orgAdmin
      .patch(made.url, { notification_type: 'chat_b' })
      .expect(400);
    expect(body).toEqual({
      __all__: ["Missing required fields for Notification Configuration: ['url']."],
    });
    await test.as.orgAdmin
      .patch(made.url, {
        notification_type: 'chat_b',
        notification_configuration: CONFIGURATIONS.chat_b,
      })
      .expect(200);
  });

  it('cannot be filtered by', async () => {
    const { body } = await test.as.orgAdmin
      .get('notification_templates/?notification_configuration__icontains=a')
      .expect(403);
    expect(body).toEqual({ detail: 'Filtering on notification_configuration is not allowed.' });
  });

  it('refuses the names of real products', async () => {
    const { body } = await test.as.orgAdmin
      .post('notification_templates/', bodyOf('chat_a', { notification_type: 'slack' }))
      .expect(400);
    expect(body).toEqual({ notification_type: ['"slack" is not a valid choice.'] });
  });

  it('stays readable if the key that encrypted it is lost', async () => {
    const made = await create('webhook');
    const other = await create('webhook');
    await test.database.execute(sql`
      UPDATE notification_templates SET notification_configuration =
        (SELECT notification_configuration FROM notification_templates WHERE id = ${other.id})
      WHERE id = ${made.id}`);
    const { body } = await test.as.orgAdmin.get(made.url).expect(200);
    expect(body.notification_configuration.url).toBe('$encrypted$');
    expect(body.notification_configuration.headers).toBe('$encrypted$');
  });
});

async function storedOf(id: number): Promise<unknown> {
  const row = await test.database.row<{ notification_configuration: unknown }>(sql`
    SELECT notification_configuration FROM notification_templates WHERE id = ${id}`);
  return row?.notification_configuration;
}

describe('messages', () => {
  const NONE = { started: null, success: null, error: null, workflow_approval: null };

  it('have defaults, merge on PATCH, and are replaced by PUT', async () => {
    const made = await create('webhook');
    const patch = async (messages: unknown) =>
      (await test.as.orgAdmin.patch(made.url, { messages }).expect(200)).body.messages as unknown;
    expect((await test.as.orgAdmin.get(made.url)).body.messages).toEqual(NONE);
    expect(await patch({ started: { message: 'a', body: '{}' } })).toEqual({
      ...NONE,
      started: { message: 'a', body: '{}' },
    });
    expect(await patch({ started: { message: 'b' }, error: { message: 'c' } })).toEqual({
      ...NONE,
      started: { message: 'b', body: '{}' },
      error: { message: 'c' },
    });
    expect(await patch({ started: null })).toEqual({ ...NONE, error: { message: 'c' } });
    const replaced = await test.as.orgAdmin
      .put(made.url, bodyOf('webhook', { messages: { success: { message: 'd' } } }))
      .expect(200);
    expect(replaced.body.messages).toEqual({ ...NONE, success: { message: 'd' } });
    expect(await patch(null)).toBeNull();
  });

  it.each([
    [[], "Expected dict for 'messages' field, found <class 'list'>"],
    [
      { done: {} },
      "Event 'done' invalid, must be one of 'started', 'success', 'error', or 'workflow_approval'",
    ],
    [{ started: 'x' }, "Expected dict for event 'started', found <class 'str'>"],
    [
      { started: { title: 'x' } },
      "Message type 'title' invalid, must be either 'message' or 'body'",
    ],
    [{ started: { message: 1 } }, "Expected string for 'message', found <class 'int'>, "],
    [
      { started: { message: 'a\nb' } },
      'Messages cannot contain newlines (found newline in started event)',
    ],
    [{ started: { message: '{{ foo }}' } }, "Field 'foo' unavailable"],
  ])('are refused: %j', async (messages, text) => {
    const { body } = await test.as.orgAdmin
      .post('notification_templates/', bodyOf('email', { messages }))
      .expect(400);
    expect(body).toEqual({ messages: [text] });
  });

  it('are not rendered for callers who may not write', async () => {
    const messages = { started: { message: '{{ foo }}' } };
    await test.as.orgMember
      .post('notification_templates/', bodyOf('email', { messages }))
      .expect(403);
  });
});

describe('OPTIONS', () => {
  it('describes the keys of every type and the default texts', async () => {
    const { body } = await test.as.orgAdmin.options('notification_templates/').expect(200);
    for (const method of ['GET', 'POST']) {
      const { notification_configuration: keys, messages } = body.actions[method];
      expect(keys.type).toBe('json');
      expect(messages.type).toBe('json');
      expect(Object.keys(keys)).toEqual(expect.arrayContaining([...NOTIFICATION_TYPES]));
      expect(keys.webhook.http_method).toEqual({
        label: 'HTTP Method',
        type: 'string',
        default: 'POST',
      });
      expect(keys.email.password).toEqual({ label: 'Password', type: 'password', default: '' });
      expect(keys.incident_a.resolve_on_success).toEqual({
        label: 'Resolve On Success',
        type: 'bool',
        required: false,
      });
      expect(messages.email.started.message).toContain('{{ job_friendly_name }}');
    }
  });
});

describe('copy', () => {
  it('keeps the secrets, encrypted for the copy', async () => {
    const made = await create('chat_a');
    expect((await test.as.orgAdmin.get(`${made.url}copy/`).expect(200)).body).toEqual({
      can_copy: true,
    });
    const { body, headers } = await test.as.orgAdmin
      .post(`${made.url}copy/`, { name: `${made.name} copy` })
      .expect(201);
    expect(headers.location).toBe(body.url);
    expect(body.notification_configuration).toEqual(made.notification_configuration);
    expect(await storedOf(body.id)).not.toEqual(await storedOf(made.id));
  });

  it('requires another name', async () => {
    const made = await create('chat_a');
    const same = await test.as.orgAdmin.post(`${made.url}copy/`, { name: made.name }).expect(400);
    expect(same.body).toEqual({
      name: [
        `The original object is already named ${made.name}, a copy from it cannot have the same name.`,
      ],
    });
    const none = await test.as.orgAdmin.post(`${made.url}copy/`, {}).expect(400);
    expect(none.body).toEqual({ name: ['This field is required.'] });
  });
});

describe('permissions', () => {
  const READS = new Set(['superuser', 'auditor', 'orgAdmin']);
  const WRITES = new Set(['superuser', 'orgAdmin']);

  it.each(PERSONA_NAMES)('%s', async (name) => {
    const made = await create('chat_a');
    const caller = test.as[name];
    const reads = READS.has(name);
    const writes = WRITES.has(name);
    await caller.get(made.url).expect(reads ? 200 : 403);
    const list = await caller.get(`notification_templates/?id=${made.id}`).expect(200);
    expect(list.body.count).toBe(reads ? 1 : 0);
    await caller.post(`${made.url}test/`, {}).expect(writes ? 200 : 403);
    await caller.patch(made.url, { description: 'x' }).expect(writes ? 200 : 403);
    await caller.post(`${made.url}copy/`, { name: `of ${name}` }).expect(writes ? 201 : 403);
    await caller.post('notification_templates/', bodyOf('chat_a')).expect(writes ? 201 : 403);
    const path = `organizations/${test.home.organization.id}/notification_templates_success/`;
    await caller.post(path, { id: made.id }).expect(writes ? 204 : 403);
    await caller.post(path, { id: made.id, disassociate: true }).expect(writes ? 204 : 403);
    await caller.post(path, bodyOf('chat_a')).expect(writes ? 201 : 403);
    await settle(made.id);
    await caller.delete(made.url).expect(writes ? 204 : 403);
  });

  it('notification admins manage templates, and auditors of an organization attach none', async () => {
    const { as, make, home } = test;
    const admin = await make.user();
    const auditor = await make.user();
    await make.grant('organization', home.organization, 'notification_admin_role', { user: admin });
    await make.grant('organization', home.organization, 'auditor_role', { user: auditor });
    const made = await create('chat_a');
    const path = `organizations/${home.organization.id}/notification_templates_error/`;
    const asAdmin = await as.asUser(admin);
    await asAdmin.patch(made.url, { description: 'mine' }).expect(200);
    // The template is theirs, the organization is not.
    await asAdmin.post(path, { id: made.id }).expect(403);
    const asAuditor = await as.asUser(auditor);
    await asAuditor.get(made.url).expect(200);
    await asAuditor.post(path, { id: made.id }).expect(403);
    await as.orgAdmin.post(path, { id: made.id }).expect(204);
    await asAuditor.post(path, { id: made.id, disassociate: true }).expect(403);
  });

  it('a move requires admin in both organizations', async () => {
    const { as, make, home } = test;
    const made = await create('chat_a');
    const elsewhere = { organization: home.otherOrganization.id };
    await as.orgAdmin.patch(made.url, elsewhere).expect(403);
    await as.outsider.patch(made.url, elsewhere).expect(403);
    const both = await make.user();
    await make.grant('organization', home.organization, 'notification_admin_role', { user: both });
    await make.grant('organization', home.otherOrganization, 'notification_admin_role', {
      user: both,
    });
    await (await as.asUser(both)).patch(made.url, elsewhere).expect(200);
  });
});

/** Marks the pending notifications as sent, as a worker does. */
async function settle(templateId: number): Promise<void> {
  await test.database.execute(sql`
    UPDATE notifications SET status = 'successful' WHERE notification_template_id = ${templateId}`);
}

it('a template with a pending notification cannot be deleted', async () => {
  const made = await create('chat_a');
  const sent = await test.as.orgAdmin.post(`${made.url}test/`, {}).expect(200);
  const { body } = await test.as.orgAdmin.delete(made.url).expect(409);
  expect(body).toEqual({
    detail: `Delete not allowed while there are pending notifications: notification ${sent.body.notification}.`,
  });
  await settle(made.id);
  await test.as.orgAdmin.delete(made.url).expect(204);
});

it('a template name is unique within the organization', async () => {
  const made = await create('chat_a');
  const { body } = await test.as.orgAdmin
    .post('notification_templates/', bodyOf('chat_a', { name: made.name }))
    .expect(400);
  expect(body).toEqual({
    __all__: ['Notification template with this Organization and Name already exists.'],
  });
});

it('five recent records and lists need a constant number of statements', async () => {
  const made = await create('chat_a');
  for (let i = 0; i < 6; i++) await test.as.orgAdmin.post(`${made.url}test/`, {}).expect(200);
  const { body } = await test.as.orgAdmin.get(made.url).expect(200);
  const recent = body.summary_fields.recent_notifications as { id: number }[];
  expect(recent).toHaveLength(5);
  expect(recent[0]).toEqual({
    id: recent[1]!.id + 1,
    status: 'pending',
    error: '',
    created: expect.stringMatching(/Z$/),
  });
  await create('webhook');
  await samePageQueries(test.database, test.as.orgAdmin, 'notification_templates/', [1, 2]);
});

it('no secret appears in the audit trail or any table', async () => {
  const made = await create('webhook');
  const changed = { ...CONFIGURATIONS.webhook, password: canary('second') };
  await test.as.orgAdmin.patch(made.url, { notification_configuration: changed }).expect(200);
  const stream = await test.as.superuser
    .get('activity_stream/?page_size=200&order_by=-id')
    .expect(200);
  expect(JSON.stringify(stream.body)).toContain('notification_configuration');
  expect(JSON.stringify(stream.body)).not.toMatch(CANARY);
  const tables = await test.database.rows<{ name: string }>(sql`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`);
  for (const { name } of tables) {
    const rows = await test.database.rows(sql`SELECT t::text AS line FROM ${ident(name)} t`);
    expect(JSON.stringify(rows)).not.toMatch(CANARY);
  }
});
