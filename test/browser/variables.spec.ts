/** Documents that people type: what is wrong with them is told beside them, by line. */
import { boot, type TestApp } from '../support/boot.js';
import { describePages } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });
const WRONG = 'region: north\nports:\n  - 80\n  - [443\nowner: shop\n';
const RIGHT = '# by hand\nregion:   north\nports: [80, 443]\n';

describePages('variables', session, (open, javaScriptEnabled) => {
  it('are told by line when they are sent, and stay as they were typed', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'What it holds' }).click();
    const area = page.locator('#patch-variables');
    await area.fill(WRONG);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await area.inputValue()).toBe(WRONG);
    expect(await page.locator('#patch-variables-errors').textContent()).toMatch(/Line [45]: /);
    await area.fill(RIGHT);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(`inventories/${id}/`).expect(200);
    // Forms send line breaks as two characters.
    expect(String(body.variables).replaceAll('\r\n', '\n')).toBe(RIGHT);
  });

  it('are told by line where a key cannot be one', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'What it holds' }).click();
    await page.locator('#patch-variables').fill('a: 1\nb: {x: 1}\n? [a]\n: 2\n');
    await page.getByRole('button', { name: 'Save' }).click();
    const told = page.locator('#patch-variables-errors');
    expect(await told.textContent()).toContain('Line 3: a list cannot be a key');
  });

  if (!javaScriptEnabled) return;

  it('are checked when the field is left, without being saved', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'What it holds' }).click();
    const area = page.locator('#patch-variables');
    await area.fill(WRONG);
    await page.locator('#patch-name').focus();
    const note = page.locator('#patch-variables-check');
    await note.getByText(/Line [45]: /).waitFor();
    expect(await area.getAttribute('aria-invalid')).toBe('true');
    await area.fill(RIGHT);
    await page.locator('#patch-name').focus();
    await page.waitForFunction(
      "document.getElementById('patch-variables').getAttribute('aria-invalid') === 'false'",
    );
    expect(await note.textContent()).toBe('');
    const { body } = await test.as.superuser.get(`inventories/${id}/`).expect(200);
    expect(body.variables).toBe('');
  });

  it('are indented by Tab, which Escape gives back', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'What it holds' }).click();
    const area = page.locator('#patch-variables');
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id');
    await area.focus();
    await page.keyboard.type('shop:\n');
    await page.keyboard.press('Tab');
    await page.keyboard.type('region: north');
    expect(await area.inputValue()).toBe('shop:\n  region: north');
    expect(await focused()).toBe('patch-variables');
    await page.getByText('Press Escape, then Tab').first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await focused()).not.toBe('patch-variables');
    await area.fill('');
    await page.keyboard.press('Tab');
    expect(await focused()).not.toBe('patch-variables');
  });
});
