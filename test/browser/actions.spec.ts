import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { newHook } from '../support/webhooks.js';
import { webhookSample } from '../support/payloads/webhooks.js';
import { describePages, openApi } from './browser.js';
import { htmlOf } from './html.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('actions by POST', session, (open) => {
  it('redeliver a webhook delivery from its page, which links to the result', async () => {
    const { page } = open;
    const hook = await newHook(test, 'service_a');
    const { body } = await hook.send(webhookSample('service_a', 'push')).expect(202);
    await page.goto(`/api/v2/webhook_deliveries/${body.delivery}/`);
    await page
      .getByRole('link', { name: String(hook.template.name) })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: String(hook.template.name) }).waitFor();
    const receiver = `${test.url}${hook.path()}`;
    expect(await page.locator('.related .address').textContent()).toBe(receiver);
    await page.goto(`/api/v2/webhook_deliveries/${body.delivery}/`);
    await openApi(page);
    await page.locator('.related').getByRole('link', { name: 'Job', exact: true }).click();
    await page.waitForURL(`**/api/v2/jobs/${body.job}/`);
    await page.goBack();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(`/${body.delivery}/`));
    expect(new URL(page.url()).pathname).toMatch(/^\/api\/v2\/webhook_deliveries\/\d+\/$/);
    expect(await page.locator('#object-fields').textContent()).toContain('Redelivery of');
  });

  it('test a notification template and resend its record', async () => {
    const { page } = open;
    const template = await test.make.notificationTemplate({
      organization: test.home.organization.id,
    });
    await page.goto(`/api/v2/notification_templates/${template.id}/`);
    expect(await page.locator('#form-test').count()).toBe(0);
    await page.getByLabel('Message', { exact: true }).selectOption('error');
    await page.getByRole('button', { name: 'Send a test' }).click();
    const [record] = await test.database.rows<Row>(sql`
      SELECT id FROM notifications WHERE notification_template_id = ${template.id}`);
    await page.goto(`/api/v2/notifications/${record!.id}/`);
    await test.database.execute(sql`UPDATE notifications SET status = 'failed'`);
    const first = page.url();
    await page.reload();
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.waitForURL((url) => url.href !== first);
    expect(page.url()).toMatch(/\/notifications\/\d+\/$/);
  });

  it('create an approval for a node', async () => {
    const { page } = open;
    const workflow = await test.make.workflowTemplate();
    const node = await test.make.workflowNode(workflow, { identifier: 'ask' });
    await page.goto(`/api/v2/workflow_job_template_nodes/${node.id}/`);
    const form = page.locator('details.form', {
      has: page.locator('#form-create_approval_template'),
    });
    await form.locator('summary').first().click();
    await page.locator('#create_approval_template-name').fill('Go live?');
    await form.getByRole('button').first().click();
    await page.getByText('Created.', { exact: true }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Go live?');
  });

  it('sync a project', async () => {
    const { page } = open;
    const project = await test.make.project({ scm_type: 'git', scm_url: 'https://127.0.0.1/x' });
    await page.goto(`/api/v2/projects/${project.id}/`);
    await page.getByRole('button', { name: 'Sync' }).click();
    await page.waitForURL('**/api/v2/project_updates/*/');
    await page.getByText('Launched.').waitFor();
  });
});

it('the page of a delivery offers Redeliver only to users who may redeliver', async () => {
  const template = await test.make.jobTemplate({ webhook_service: 'service_a' });
  const [delivery] = await test.database.rows<{ id: number }>(sql`
    INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict)
    VALUES (${template.id}, 'service_a', 'push', gen_random_uuid(), 'ignored') RETURNING id`);
  const user = test.as.users.orgMember;
  await test.make.grant('job_template', template, 'read_role', { user });
  const path = `webhook_deliveries/${delivery?.id}/`;
  const form = new RegExp(
    `action="[^"]*${path}redeliver/"[^>]*>.*?<button[^>]*>\\s*Redeliver`,
    's',
  );
  expect(await htmlOf(test.as.superuser, path)).toMatch(form);
  const html = await htmlOf(test.as.orgMember, path);
  expect(html).toContain('<h1');
  expect(html).not.toContain('/redeliver/"');
});
