/** Variables are edited as YAML or JSON, and errors are shown next to the field, by line. */
import type { Route } from 'playwright-core';

import { boot, type TestApp } from '../support/boot.js';
import { describePages, faultsOfColors, seriousFaults } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });
const WRONG = 'region: north\nports:\n  - 80\n  - [443\nowner: shop\n';
const RIGHT = '# by hand\nregion:   north\nports: [80, 443]\n';

describePages('variables', session, (open, javaScriptEnabled) => {
  it('have line numbers in errors, and keep their text', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
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
    expect(body.variables).toBe(RIGHT);
  });

  it('have line numbers in errors about invalid keys', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
    await page.locator('#patch-variables').fill('a: 1\nb: {x: 1}\n? [a]\n: 2\n');
    await page.getByRole('button', { name: 'Save' }).click();
    const errors = page.locator('#patch-variables-errors');
    expect(await errors.textContent()).toContain('Line 3: a list cannot be a key');
  });

  if (!javaScriptEnabled) return;

  it('are validated when the field loses the focus, without being saved', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
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

  it('are edited with syntax colors, and Tab moves to the next field', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
    await page.getByText('Variables', { exact: true }).click();
    await page.keyboard.type('shop:\n  region: north');
    expect(await page.locator('#patch-variables').inputValue()).toBe('shop:\n  region: north');
    const parts = page.locator('.editor').first().locator('.cm-line span');
    // The editor colors the text after it has shown it.
    await parts.first().waitFor();
    const colors = await parts.evaluateAll((all) => all.map(({ className }) => className));
    expect(new Set(colors).size).toBeGreaterThan(1);
    expect(await seriousFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await faultsOfColors(page)).toEqual([]);
    await page.keyboard.press('Tab');
    const focused = await page.evaluate('document.activeElement.textContent');
    expect(focused).toBe('Show as JSON');
  });

  it('keep the selection when the editor loads late', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    let request: (route: Route) => void;
    const requested = new Promise<Route>((resolve) => (request = resolve));
    await page.route(/editor/, (route) => request(route));
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
    const area = page.locator('#patch-variables');
    await area.fill('region: north');
    await area.selectText();
    await (await requested).continue();
    await page.locator('.editor').first().waitFor();
    await page.keyboard.press('Backspace');
    expect(await area.inputValue()).toBe('');
  });

  it('are converted to JSON and back to the same YAML', async () => {
    const { page } = open;
    const { id } = await test.make.inventory();
    await page.goto(`/api/v2/inventories/${id}/?_form=patch`);
    await page.locator('#form-patch summary', { hasText: 'Contents' }).click();
    const area = page.locator('#patch-variables');
    const change = page.getByRole('button', { name: 'Show as' });
    await area.fill(RIGHT);
    await change.click();
    expect(JSON.parse(await area.inputValue())).toEqual({ region: 'north', ports: [80, 443] });
    await change.click();
    // The text has its comment and its spaces.
    expect(await area.inputValue()).toBe(RIGHT);
    await area.fill('{"answer": "yes", "mode": "0644"}');
    await change.click();
    expect(await area.inputValue()).toBe('answer: "yes"\nmode: "0644"\n');
    await area.fill('{"size": 12345678901234567890}');
    await change.click();
    await page.getByText('Not converted').waitFor();
    expect(await area.inputValue()).toBe('{"size": 12345678901234567890}');
  });
});
