import { sql } from '../../src/database/sql.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, webhookSample } from '../support/payloads/webhooks.js';
import { addHook, type Hook } from '../support/webhooks.js';
import { describeJourney, type Walk } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

/** Creates a template with a webhook key that has received a push. */
async function received(name: string): Promise<Hook> {
  const hook = await addHook(test, await test.make.jobTemplate({ name }), 'service_a');
  await hook.send(webhookSample('service_a', 'push')).expect(202);
  return hook;
}

const toWebhook = async (walk: Walk, name: string): Promise<void> => {
  await walk.open('Templates');
  await walk.link(name);
  await walk.link('Webhook', walk.page.locator('.tabs'));
  await walk.page.getByRole('heading', { name: 'Enter this at the code host' }).waitFor();
};

describeJourney('copying the key of a webhook', session, 3, async (walk) => {
  const name = `Deploy ${walk.mark}`;
  const hook = await received(name);
  await toWebhook(walk, name);
  const setup = walk.page.locator('#setup');
  expect(await setup.getByLabel('Address (payload URL)').textContent()).toBe(
    `${test.url}${hook.path()}`,
  );
  expect(await setup.getByLabel('Secret').textContent()).toBe(hook.key);
  const text = await setup.innerText();
  for (const word of ['application/json', 'pull_request', 'X-Hub-Signature-256']) {
    expect(text).toContain(word);
  }
  // No code host can reach the address of this test.
  await setup.getByText('cannot reach this address').waitFor();
  await walk.look('webhook');
});

describeJourney('finding the response to the code host', session, 3, async (walk) => {
  const name = `Told ${walk.mark}`;
  const credential = await test.make.credential({
    namespace: 'service_a_token',
    inputs: { host: 'https://code.example.org', token: 'a token of the code host' },
  });
  const template = await test.make.jobTemplate({ name });
  const hook = await addHook(test, template, 'service_a');
  await test.database.execute(sql`
    UPDATE unified_job_templates SET webhook_credential_id = ${credential.id}
    WHERE id = ${template.id}`);
  await toWebhook(walk, name);
  const posts = walk.page.locator('#posts');
  expect(await posts.innerText()).toContain('No statuses posted yet.');
  await hook.send(webhookSample('service_a', 'pull_request')).expect(202);
  await test.database.execute(sql`
    UPDATE webhook_status_posts SET outcome = 'failed', reason = 'The code host refused the token.'
    WHERE job_id IN (SELECT id FROM unified_jobs WHERE unified_job_template_id = ${template.id})`);
  await walk.page.reload();
  const text = await posts.getByRole('listitem').innerText();
  for (const word of ['pending', 'Failed', 'The code host refused the token.']) {
    expect(text).toContain(word);
  }
});

describeJourney('redelivering a webhook', session, 4, async (walk) => {
  const name = `Again ${walk.mark}`;
  const hook = await received(name);
  await toWebhook(walk, name);
  // The payload of an unsigned delivery is not stored, so it cannot be redelivered.
  await hook.post(Buffer.from('{}'), {
    'Content-Type': 'application/json',
    'X-Service-A-Event': 'push',
    'X-Service-A-Delivery': `unsigned-${walk.mark}`,
    'X-Service-A-Signature-256': `sha256=${'0'.repeat(64)}`,
  });
  await test.app.get(RejectionLog, { strict: false }).flush();
  await walk.page.reload();
  const rejected = walk.page.getByRole('row', { name: /Rejected/ });
  await rejected.waitFor();
  expect(await rejected.getByRole('button').count()).toBe(0);
  await walk.button('Redeliver');
  const notice = walk.page.getByText('Done.', { exact: true });
  await notice.waitFor();
  // The form leads back to its card, where the result remains visible.
  const top = await notice.evaluate((element) => element.getBoundingClientRect().top);
  expect(await walk.page.evaluate('scrollY')).toBeGreaterThan(0);
  expect(top).toBeGreaterThanOrEqual(0);
  await walk.page.getByRole('heading', { name: 'Last deliveries' }).waitFor();
  expect(await hook.deliveries()).toHaveLength(3);
});

describeJourney('testing filters and saving them', session, 6, async (walk) => {
  const name = `Filtered ${walk.mark}`;
  const hook = await received(name);
  await toWebhook(walk, name);
  const filters = walk.page.locator('#filters');
  await walk.click(filters.getByLabel('push', { exact: true }));
  await filters.getByLabel('Branches and tags').fill('nothing-*, release/*');
  await filters.getByLabel('JSON pointer').first().fill('/repository/private');
  await filters.getByLabel('Value').first().fill('false');
  await walk.button('Test with received deliveries');
  await walk.page.getByText('0 of 1 deliveries would have launched.').waitFor();
  await walk.look('filter-test');
  await walk.button('Save filters');
  await walk.page.getByText('Saved.').waitFor();
  const [row] = await test.database.rows<{ webhook_filters: unknown }>(sql`
    SELECT webhook_filters FROM unified_job_templates WHERE id = ${hook.template.id}`);
  expect(row?.webhook_filters).toEqual({
    events: ['push'],
    refs: ['nothing-*', 'release/*'],
    equals: { '/repository/private': false },
  });
});

describeJourney('connecting a repository and watching its first run', session, 4, async (walk) => {
  const { page } = walk;
  const { name } = await test.make.jobTemplate({ name: `New ${walk.mark}` });
  await walk.open('Templates');
  await walk.link(String(name));
  await walk.look('template-without-webhook');
  await walk.button('GitLab', page.locator('#webhook'));
  const setup = page.locator('#setup');
  await setup.getByText('X-Gitlab-Token').waitFor();
  expect(walk.clicks).toBeLessThanOrEqual(3);
  const [address, secret] = [
    (await setup.getByLabel('Address (payload URL)').textContent()) ?? '',
    (await setup.getByLabel('Secret').textContent()) ?? '',
  ];
  expect(secret.length).toBeGreaterThan(20);
  // Sends a delivery as the code host does with the entered URL and secret.
  const { event, payload } = webhookSample('service_b', 'Push Hook');
  const body = Buffer.from(JSON.stringify(payload));
  const delivery = `first-${walk.mark}`;
  const headers = deliveryHeaders('service_b', event, body, secret, { delivery });
  expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(202);
  await page.reload();
  await page.locator('#deliveries').getByText('Accepted').waitFor();
  await walk.look('webhook-received');
  await walk.link(/^Run \d+$/, page.locator('#deliveries'));
  await page.getByText('The run is pending.').waitFor();
  await page.getByText(/^Webhook: Push Hook to \S+ by grace$/).waitFor();
  await page.goto('/api/v2/jobs/');
  const row = page.locator('tr', { hasText: String(name) });
  await row.getByText(/^Push Hook to \S+ by grace$/).waitFor();
});
