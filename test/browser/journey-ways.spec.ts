/** Work with the keyboard only, and the way back from the API explorer. */
import type { Locator } from 'playwright-core';

import { boot, type TestApp } from '../support/boot.js';
import { shortenDocument } from './browser.js';
import { describeJourney, type Walk } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
  // The first request builds the document; the pages here should not wait for it.
  await test.as.anonymous.get('/api/openapi.json').expect(200);
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

/** Presses Tab until the target has the focus: past everything else, in the order of the page. */
async function reach({ page }: Walk, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Not reached by Tab: ${String(target)}`);
}

describeJourney('finding and launching by keyboard only', session, 0, async (walk) => {
  const { page, mark } = walk;
  const name = `Typed ${mark}`;
  await test.make.jobTemplate({ name });
  await reach(walk, page.getByLabel('Find anything'));
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  // The first link of each page skips its header.
  await page.keyboard.press('Tab');
  expect(await page.locator(':focus').textContent()).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await reach(walk, page.getByRole('link', { name, exact: true }).first());
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await reach(walk, page.getByRole('button', { name: 'Launch', exact: true }).first());
  await page.keyboard.press('Enter');
  await page.getByText('The run is pending.').waitFor();
});

describeJourney('opening the explorer and returning', session, 2, async (walk) => {
  const { page } = walk;
  await shortenDocument(page);
  await walk.link('Explorer', page.getByRole('contentinfo'));
  if (walk.hasScripts) {
    await page.locator('.opblock-tag').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Automation Controller');
  } else await page.locator('noscript p').waitFor();
  await walk.link('Automation Controller', page.locator('nav.way-back'));
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
});
