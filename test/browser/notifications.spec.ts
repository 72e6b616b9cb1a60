import { boot, type TestApp } from '../support/boot.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { describePages, picture, seriousFaults } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

describePages('forms of notification templates', session, (open, javaScriptEnabled) => {
  it('show the fields of each type, report missing ones, create a template and hide its secrets', async () => {
    const { page } = open;
    const name = `Mail ${javaScriptEnabled}`;
    await page.goto('/api/v2/notification_templates/');
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name: 'Email', exact: true }).click();
    await page.locator('#post-name').fill(name);
    const set = (key: string, value: string): Promise<void> =>
      page.locator(`[name="notification_configuration.${key}"]`).fill(value);
    for (const [key, value] of Object.entries(configurationsFor({ http: 9 }).email)) {
      if (typeof value !== 'boolean') await set(key, [value].flat().join('\n'));
    }
    await set('sender', 'nobody at all');
    await picture(page, `notification-template-form-${javaScriptEnabled ? 'scripts' : 'plain'}`);
    expect(await seriousFaults(page, javaScriptEnabled)).toEqual([]);
    await page.getByRole('button', { name: 'Create notification template' }).click();
    await page.getByText("'nobody at all' is not a valid mail address.").first().waitFor();
    // The entered text and the chosen type are still there.
    await page.getByText('Choose another').waitFor();
    expect(await page.locator('[name="notification_configuration.recipients"]').inputValue()).toBe(
      'ops@example.org\ndev@example.org',
    );
    await set('sender', 'controller@example.org');
    await page.getByRole('button', { name: 'Create notification template' }).click();
    await page.waitForURL(/\/notification_templates\/\d+\/$/);
    expect(await page.locator('h1').textContent()).toBe(name);
    const text = await page.content();
    expect(text).toContain('$encrypted$');
    expect(text).not.toContain('canary-password');

    // The form sends its values back unchanged, which keeps the secret.
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.locator('#patch-description').fill('changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(new URL(page.url()).pathname).expect(200);
    expect(body.name).toBe(name);
    expect(body.notification_configuration).toEqual({
      ...configurationsFor({ http: 9 }).email,
      password: '$encrypted$',
      timeout: 30,
      no_verify_ssl: false,
    });
    await picture(page, `notification-template-${javaScriptEnabled ? 'scripts' : 'plain'}`);
  });
});
