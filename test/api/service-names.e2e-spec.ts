/** `SERVICE_NAMES=vendor` gives clients the names of products; neutral names stay accepted. */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { CollectionClient } from '../client/collection/collection-client.js';
import type { Item } from '../client/collection/python-values.js';
import { deliveryHeaders, webhookSample } from '../support/payloads/webhooks.js';
import { newHook } from '../support/webhooks.js';

let test: TestApp;
let collection: CollectionClient;

beforeAll(async () => {
  test = await boot({ settings: { SERVICE_NAMES: 'vendor' } });
  const token = await test.make.token(test.as.users.superuser);
  collection = new CollectionClient(test.url, { by: 'given token', token });
}, 60_000);
afterAll(() => test.close());

const CHANNELS: [type: string, neutral: string, configuration: Item, stored: string[]][] = [
  [
    'mattermost',
    'chat_b',
    { mattermost_url: 'http://127.0.0.1:9/m', mattermost_no_verify_ssl: true },
    ['url', 'no_verify_ssl'],
  ],
  [
    'rocketchat',
    'chat_c',
    { rocketchat_url: 'http://127.0.0.1:9/r', rocketchat_username: 'ops' },
    ['url', 'username'],
  ],
  [
    'grafana',
    'dashboard_a',
    { grafana_url: 'http://127.0.0.1:9/g', annotation_tags: ['ops'] },
    ['url', 'key', 'annotation_tags'],
  ],
  ['slack', 'chat_a', { channels: ['#ops'] }, ['token', 'channels']],
];

const SECRETS = new Map<string, Item>([
  ['slack', { token: 'x' }],
  ['grafana', { grafana_key: 'x' }],
]);

it.each(CHANNELS)(
  'a notification template of %s is stored as %s and shown as sent',
  async (type, neutral, configuration, stored) => {
    const secrets = SECRETS.get(type);
    const task = {
      name: `To ${type}`,
      organization: 'Home',
      notification_type: type,
      notification_configuration: { ...configuration, ...secrets },
    };
    const { id, changed } = await collection.run('notification_template', task);
    expect(changed).toBe(true);
    const shown = await test.as.superuser.get(`notification_templates/${String(id)}/`).expect(200);
    expect(shown.body).toMatchObject({
      notification_type: type,
      notification_configuration: configuration,
    });
    const [row] = await test.database.rows<Item>(sql`
      SELECT notification_type, notification_configuration AS stored
      FROM notification_templates WHERE id = ${Number(id)}`);
    expect(row).toMatchObject({ notification_type: neutral });
    expect(Object.keys(row?.['stored'] as Item)).toEqual(expect.arrayContaining(stored));
    // The module cannot compare secrets, so it sends them again.
    const again = await collection.run('notification_template', task);
    expect(again).toEqual({ changed: secrets !== undefined, id });
    for (const filter of [`notification_type=${type}`, `notification_type__in=email,${type}`]) {
      const list = await test.as.superuser.get(`notification_templates/?${filter}`).expect(200);
      expect(list.body).toMatchObject({ count: 1, results: [{ id, notification_type: type }] });
    }
  },
);

it('OPTIONS shows channels and code hosts by their product names', async () => {
  const { body } = await test.as.superuser.options('notification_templates/').expect(200);
  const { POST } = (body as { actions: { POST: Record<string, Record<string, unknown>> } }).actions;
  expect(POST['notification_type']?.['choices']).toContainEqual(['mattermost', expect.any(String)]);
  expect(POST['notification_configuration']).toMatchObject({
    mattermost: { mattermost_url: { type: 'string' } },
    grafana: { grafana_key: {}, isRegion: {} },
  });
});

it('a template with a product name has its key, receiver and token type, and can be launched', async () => {
  const hook = await newHook(test, 'service_a');
  const { id } = hook.template;
  const shown = await test.as.superuser.get(`job_templates/${id}/`).expect(200);
  const receiver = `/api/v2/job_templates/${id}/github/`;
  expect(shown.body).toMatchObject({
    webhook_service: 'github',
    related: { webhook_receiver: receiver },
  });
  const { event, payload } = webhookSample('service_a', 'push');
  const bytes = Buffer.from(JSON.stringify(payload));
  const headers = deliveryHeaders('service_a', event, bytes, hook.key);
  await hook.post(bytes, headers, receiver).expect(202);
  expect(await hook.jobs()).toHaveLength(1);
  const changed = await test.as.superuser
    .patch(`job_templates/${id}/`, { webhook_service: 'gitlab' })
    .expect(200);
  expect(changed.body).toMatchObject({ webhook_service: 'gitlab' });

  const types = await test.as.superuser
    .get('credential_types/?name=GitHub%20Personal%20Access%20Token')
    .expect(200);
  expect(types.body).toMatchObject({
    count: 1,
    results: [{ namespace: 'github_token', name: 'GitHub Personal Access Token' }],
  });
});

it('data of users stay as sent', async () => {
  const extra_vars = '{"webhook_service": "github", "kind": "service_a_token"}';
  const template = await test.make.jobTemplate({});
  const changed = await test.as.superuser
    .patch(`job_templates/${template.id}/`, { extra_vars, description: 'service_a' })
    .expect(200);
  expect(changed.body).toMatchObject({ extra_vars, description: 'service_a' });
});
