import type { Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, describePagesBothWays } from './browser.js';

const PASSWORD = 'a good password';
const AGE_SECONDS = 60;

let test: TestApp;
let user: Row;

beforeAll(async () => {
  test = await boot({ settings: { SESSION_COOKIE_AGE: String(AGE_SECONDS) } });
  user = await test.make.user({ username: 'boss', password: PASSWORD, is_superuser: true });
});
afterAll(() => test.close());

const age = (seconds: number): Promise<unknown> =>
  test.database.execute(sql`
  UPDATE sessions SET last_seen = now() - make_interval(secs => ${seconds})`);
const idle = async (): Promise<number> => {
  const row = await test.database.row<{ seconds: number }>(sql`
  SELECT min(extract(epoch FROM now() - last_seen))::float8 AS seconds
  FROM sessions WHERE user_id = ${user.id}`);
  return row?.seconds ?? NaN;
};

const boss = () => ({ test, user });

/** Sends the form of the login; without scripts, a button returns to the entered text. */
async function logIn(page: Page, hasScripts: boolean): Promise<void> {
  await page.getByLabel('Username').fill('boss');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  if (!hasScripts) await page.getByRole('button', { name: 'Back to the form' }).click();
}

async function typeChange(page: Page): Promise<Row> {
  const team = await test.make.team({ description: 'before' });
  await page.goto(`/api/v2/teams/${team.id}/?_form=patch`);
  await page.locator('#patch-description').fill('typed "at" length\n<b>');
  return team;
}

async function keepsChange(page: Page, hasScripts: boolean, end: () => Promise<unknown>) {
  const team = await typeChange(page);
  await end();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your session has ended.').waitFor();
  await page.getByLabel('Username').fill('boss');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').waitFor();
  await logIn(page, hasScripts);
  await savesRestored(page, team);
}

async function savesRestored(page: Page, team: Row): Promise<void> {
  await page.getByText('is restored and has not been sent yet').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/api/v2/teams/${team.id}/`);
  const { body } = await test.as.superuser.get(`teams/${team.id}/`).expect(200);
  expect(body.description).toBe('before');
  expect(await page.locator('#patch-name').inputValue()).toBe(team.name);
  expect(await page.locator('#patch-description').inputValue()).toBe('typed "at" length\n<b>');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
}

describePagesBothWays('expired sessions', boss, (open, hasScripts) => {
  it('on the server keep the changes in a form', () =>
    keepsChange(open.page, hasScripts, () => age(AGE_SECONDS + 1)));

  it('keep the changes in a form after a login in another tab', async () => {
    const { page } = open;
    const team = await typeChange(page);
    await age(AGE_SECONDS + 1);
    const other = await page.context().newPage();
    await other.goto('/api/login/');
    await other.getByLabel('Username').fill('boss');
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Log in' }).click();
    await other.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    if (!hasScripts) await page.getByRole('button', { name: 'Back to the form' }).click();
    await savesRestored(page, team);
  });
});

describePages('sessions', boss, (open, hasScripts) => {
  const cookieEnds = async (): Promise<number> => {
    const cookies = await open.page.context().cookies();
    return cookies.find(({ name }) => name === SESSION_COOKIE)?.expires ?? NaN;
  };

  it('continue while the user works, also in the browser', async () => {
    const { page } = open;
    await page.goto('/api/v2/teams/');
    expect(await cookieEnds()).toBe(-1);
    await age(AGE_SECONDS * 0.7);
    await page.goto('/api/v2/teams/');
    expect(await idle()).toBeLessThan(10);
    expect((await cookieEnds()) - Date.now() / 1000).toBeGreaterThan(AGE_SECONDS - 10);
    // The session is renewed at intervals, and not with every request.
    await age(AGE_SECONDS * 0.3);
    await page.goto('/api/v2/teams/');
    expect(await idle()).toBeGreaterThan(AGE_SECONDS * 0.3 - 1);
    await age(AGE_SECONDS + 1);
    await page.goto('/api/v2/teams/');
    expect(new URL(page.url()).pathname).toBe('/api/login/');
  });

  it('whose cookie was deleted keep the changes in a form', () =>
    keepsChange(open.page, hasScripts, () =>
      open.page.context().clearCookies({ name: SESSION_COOKIE }),
    ));

  it('store no secrets of a form during the login', async () => {
    const { page } = open;
    await page.goto('/api/v2/users/?_form=post');
    await page.locator('#post-username').fill('newcomer');
    await page.locator('#post-password').fill('nobody may read this');
    await age(AGE_SECONDS + 1);
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText('Your session has ended.').waitFor();
    expect(await page.content()).toContain('newcomer');
    expect(await page.content()).not.toContain('nobody may read this');
    await logIn(page, hasScripts);
    await page.getByText('is restored and has not been sent yet').waitFor();
    expect(await page.locator('#post-username').inputValue()).toBe('newcomer');
    expect(await page.locator('#post-password').inputValue()).toBe('');
  });

  it('store no form from another site', async () => {
    const { page } = open;
    await page.goto('/api/login/');
    await page.context().clearCookies({ name: SESSION_COOKIE });
    const answer = await page.request.post('/api/v2/teams/', {
      form: { csrfmiddlewaretoken: 'x'.repeat(32), name: 'planted' },
      headers: { Accept: 'text/html' },
    });
    expect(answer.status()).toBe(401);
    expect(await answer.text()).not.toContain('planted');
  });

  it('redirect only to the current page after the login', async () => {
    const { page } = open;
    await page.goto('/api/login/');
    expect(await page.locator('input[name="next"]').inputValue()).toBe('/');
    const cookies = await page.context().cookies();
    const csrf = cookies.find(({ name }) => name === 'csrftoken')?.value ?? '';
    const answer = await page.request.post('/api/login/', {
      form: {
        csrfmiddlewaretoken: csrf,
        username: 'boss',
        password: PASSWORD,
        next: 'https://elsewhere.example/',
        pending: JSON.stringify({ path: '//elsewhere.example/', method: 'POST', values: {} }),
      },
      maxRedirects: 0,
    });
    expect(await answer.text()).toContain('action="/api/v2/"');
    expect(await answer.text()).not.toContain('action="//elsewhere');
  });
});
