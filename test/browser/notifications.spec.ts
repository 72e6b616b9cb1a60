import { boot, type TestApp } from '../support/boot.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { describePages, pick, picture, seriousFaults } from './browser.js';

jest.setTimeout(60_000);

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

describePages('forms of notification templates', session, (open, javaScriptEnabled) => {
  it('shows what each kind needs, tells what is missing, makes one and hides its secrets', async () => {
    const { page } = open;
    const name = `Mail ${javaScriptEnabled}`;
    await page.goto('/api/v2/notification_templates/');
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    await page.locator('#post-name').fill(name);
    await pick(page.getByLabel('Organization *').first(), 'Home', javaScriptEnabled);
    await page.locator('#post-notification_type').selectOption('email');
    const configuration = page.locator('#post-notification_configuration');
    const examples = page.locator('details.plain', { hasText: 'Examples' }).first();
    await examples.locator('summary').first().click();
    const example = await examples
      .locator('dt', { hasText: '(email)' })
      .locator('xpath=following-sibling::dd[1]')
      .innerText();
    expect(Object.keys(JSON.parse(example) as object)).toEqual(
      expect.arrayContaining(['host', 'port', 'recipients', 'timeout']),
    );
    await picture(page, `notification-template-form-${javaScriptEnabled ? 'scripts' : 'plain'}`);
    if (javaScriptEnabled) expect(await seriousFaults(page)).toEqual([]);

    await configuration.fill('{"host": "mail.example", "port": "25"}');
    await page.getByRole('button', { name: 'Create notification template' }).click();
    const refused = page.getByText('Missing required fields for Notification Configuration');
    await refused.first().waitFor();
    expect(await page.getByText("'port' incorrect type, expected int.").count()).toBeGreaterThan(0);

    await configuration.fill(JSON.stringify(configurationsFor({ http: 9 }).email));
    await page.getByRole('button', { name: 'Create notification template' }).click();
    await page.waitForURL(/\/notification_templates\/\d+\/$/);
    expect(await page.locator('h1').textContent()).toBe(name);
    const text = await page.content();
    expect(text).toContain('$encrypted$');
    expect(text).not.toContain('canary-password');

    // What the form of a change holds is sent back as it is, and keeps the secret.
    await page.getByRole('link', { name: 'Change', exact: true }).click();
    await page.locator('#patch-description').fill('changed');
    await page.getByRole('button', { name: 'Change notification template' }).click();
    await page.getByText('Saved.').waitFor();
    await picture(page, `notification-template-${javaScriptEnabled ? 'scripts' : 'plain'}`);
  });
});
