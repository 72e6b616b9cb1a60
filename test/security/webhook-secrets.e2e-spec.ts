/** The payload and the key of a webhook are readable only by administrators of the template. */
import { boot, type TestApp } from '../support/boot.js';
import { firstSample } from '../support/payloads/webhooks.js';
import { newHook } from '../support/webhooks.js';

type Json = Record<string, unknown>;

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

describe('the secrets of a template for its admins', () => {
  it('include the payload, on the run and on the delivery', async () => {
    const hook = await newHook(test, 'service_a');
    const { template } = hook;
    const { make, as } = test;
    await make.grant('job_template', template, 'execute_role', { user: as.users.teamMember });
    await make.grant('job_template', template, 'admin_role', { user: as.users.nobody });
    const { body } = await hook.send(firstSample('service_a')).expect(202);
    const seenBy = async (client: typeof as.nobody): Promise<[Json, Json]> => {
      const run = await client.get(`jobs/${body.job}/`).expect(200);
      const delivery = await client.get(`webhook_deliveries/${body.delivery}/`).expect(200);
      return [JSON.parse(run.body.extra_vars as string) as Json, delivery.body as Json];
    };
    for (const own of await seenBy(as.nobody)) {
      expect(own.payload ?? own.svc_webhook_payload).toEqual(firstSample('service_a').payload);
    }
    const [variables, delivery] = await seenBy(as.teamMember);
    expect(variables).toHaveProperty('svc_webhook_event_ref');
    for (const name of ['svc_webhook_payload', 'awx_webhook_payload', 'tower_webhook_payload']) {
      expect(variables).not.toHaveProperty(name);
    }
    expect(delivery).not.toHaveProperty('payload');
  });

  it('include the key, which a read-only token cannot read', async () => {
    const { template, key } = await newHook(test, 'service_a');
    const path = `job_templates/${template.id}/webhook_key/`;
    const { users, asUser } = test.as;
    const reading = await asUser(users.superuser, { scope: 'read' });
    await reading.get(`job_templates/${template.id}/`).expect(200);
    await reading.get(path).expect(403);
    await reading.post(path).expect(403);
    const writing = await asUser(users.superuser);
    expect((await writing.get(path).expect(200)).body).toEqual({ webhook_key: key });
  });
});
