import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import {
  inBrowser,
  describePages,
  describePagesBothWays,
  openApi,
  openFilters,
  openUserMenu,
  pick,
  seriousFaults,
  visit,
  type Visit,
} from './browser.js';
import { htmlOf } from './html.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('pages', session, (open, javaScriptEnabled) => {
  it('create a team, change it and delete it', async () => {
    const { page } = open;
    const name = `Made by a form ${javaScriptEnabled}`;
    await page.goto('/api/v2/teams/');
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    await page.getByLabel('Name').fill(name);
    await pick(page.getByLabel('Organization *').first(), 'Home', javaScriptEnabled);
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.waitForURL(/\/teams\/\d+\/$/);
    expect(await page.locator('h1').textContent()).toBe(name);
    expect(await page.getByRole('status').first().textContent()).toBe('Created.');

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.locator('#patch-description').fill('Two\nlines');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await page.locator('.description').innerText()).toContain('Two\nlines');

    await page.getByRole('link', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await page.waitForURL(/\/teams\/$/);
    expect(await page.getByRole('link', { name }).count()).toBe(0);
  });

  it('show an error beside the field and keep the values', async () => {
    const { page } = open;
    await page.goto('/api/v2/organizations/?_form=post');
    await page.locator('#post-name').fill('Home');
    await page.locator('#post-description').fill('kept <as> "typed"');
    await page.getByRole('button', { name: 'Create organization' }).click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await page.locator('#post-name-errors').innerText()).toBe(
      'Organization with this Name already exists.',
    );
    expect(await page.locator('#post-name').inputValue()).toBe('Home');
    expect(await page.locator('#post-name').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#post-description').inputValue()).toBe('kept <as> "typed"');
  });

  it('add a member to a team and remove it again', async () => {
    const { page } = open;
    const team = await test.make.team({ organization: test.home.organization.id });
    await page.goto(`/api/v2/teams/${team.id}/users/?_form=post`);
    await pick(page.getByLabel('User *').first(), 'nobody', javaScriptEnabled);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added to the list.').waitFor();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['nobody']);

    await page.getByRole('button', { name: 'Remove nobody' }).click();
    await page.getByText('Removed from the list.').waitFor();
    expect(await page.getByText('No users yet.').count()).toBe(1);
  });

  it('filter, order and page a list', async () => {
    const { page } = open;
    const organization = await test.make.organization();
    for (const letter of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) {
      await test.make.team({
        name: `Paged ${letter} of ${organization.id}`,
        organization: organization.id,
      });
    }
    await page.goto('/api/v2/teams/');
    await openFilters(page);
    await page.getByLabel('Field').selectOption('name');
    await page.getByLabel('Value').fill(`of ${organization.id}`);
    await page.getByLabel('Comparison').selectOption('icontains');
    await page.getByLabel('Order').selectOption('-name');
    await page.getByLabel('Per page').selectOption('10');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/name__icontains=/);
    expect(new URL(page.url()).search).not.toContain('_field');
    const names = await page.getByRole('rowheader').allTextContents();
    expect(names).toHaveLength(10);
    expect(names[0]).toBe(`Paged k of ${organization.id}`);

    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/page=2/);
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([
      `Paged a of ${organization.id}`,
    ]);
    await page
      .getByRole('link', { name: `Remove filter Name contains of ${organization.id}` })
      .click();
    await page.waitForURL((url) => !url.search.includes('name__icontains'));
  });

  it('accept raw JSON and show its errors', async () => {
    const { page } = open;
    await page.goto(`/api/v2/teams/${test.home.team.id}/?_form=patch`);
    await page.locator('#form-patch').getByText('Raw data').click();
    const text = page.locator('#raw-patch');
    await text.fill('{"description": ');
    await page.getByRole('button', { name: 'PATCH' }).click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await text.inputValue()).toBe('{"description": ');
    await text.fill('{"description": "raw"}');
    await page.getByRole('button', { name: 'PATCH' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(`teams/${test.home.team.id}/`);
    expect(body.description).toBe('raw');
  });

  it('show the response to OPTIONS on request', async () => {
    const { page } = open;
    await page.goto('/api/v2/teams/');
    await openApi(page);
    await page.getByRole('button', { name: 'Show options' }).click();
    await page.getByText('"max_page_size"').waitFor();
  });
});

describePagesBothWays('pages', session, (open) => {
  it('keep the chosen theme', async () => {
    const { page } = open;
    await page.goto('/api/v2/teams/?order_by=name');
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await page.goto('/api/v2/');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });
});

inBrowser()('pages', () => {
  let open: Visit;

  afterEach(() => open.close());

  it('redirect an anonymous user to the login and back', async () => {
    const user = await test.make.user({ username: 'person', password: 'a good password' });
    open = await visit(test, null);
    const { page } = open;
    await page.goto('/api/v2/teams/?order_by=-name');
    expect(new URL(page.url()).pathname).toBe('/api/login/');
    await page.getByLabel('Username').fill(String(user.username));
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('correct username and password').waitFor();
    await page.getByLabel('Username').fill(String(user.username));
    await page.getByLabel('Password').fill('a good password');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(/\/api\/v2\/teams\/\?order_by=-name$/);
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(/\/api\/login\/$/);
  });

  it('show a token once, in the response', async () => {
    open = await visit(test, test.as.users.orgMember);
    const { page } = open;
    await page.goto('/api/v2/tokens/?_form=post');
    await page.locator('#post-description').fill('laptop');
    await page.getByRole('button', { name: /^Create / }).click();
    await page.getByText('201 Created').waitFor();
    const shown = JSON.parse((await page.locator('.json').textContent()) ?? '') as {
      token: string;
    };
    expect(shown.token).not.toContain('encrypted');
  });

  it.each(IS_DEEP ? (['light', 'dark'] as const) : (['light'] as const))(
    'have no serious accessibility issues (%s)',
    async (colorScheme) => {
      open = await visit(test, test.as.users.superuser, { colorScheme });
      const { page } = open;
      const team = `/api/v2/teams/${test.home.team.id}/`;
      // `main-pages.spec.ts` checks the API root, objects, pages of errors and the login.
      for (const path of [
        '/api/v2/teams/?page_size=1&name__icontains=e',
        `${team}?_form=patch`,
        `${team}users/?_form=post`,
      ]) {
        await page.goto(path);
        expect([path, ...(await seriousFaults(page))]).toEqual([path]);
      }
    },
  );

  it('can be used with the keyboard and on a small screen', async () => {
    open = await visit(test, test.as.users.superuser, {
      viewport: { width: 360, height: 740 },
    });
    const { page } = open;
    await page.goto('/api/v2/teams/');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').getAttribute('id')).toBe('main');
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBe(0);
  });
});

describe('pages offer', () => {
  it('only permitted actions', async () => {
    const path = `teams/${test.home.team.id}/`;
    const change = />\s*(Edit|Delete)\s*</;
    expect(await htmlOf(test.as.superuser, path)).toMatch(change);
    const html = await htmlOf(test.as.teamMember, path);
    expect(html).toContain('Home Team');
    expect(html).not.toMatch(change);
    for (const form of ['patch', 'delete']) {
      const url = `${path}?_form=${form}`;
      expect(await htmlOf(test.as.superuser, url)).toContain(`id="form-${form}"`);
      expect(await htmlOf(test.as.teamMember, url)).not.toContain(`id="form-${form}"`);
    }
  });

  it('no form below a parent where every request would be refused', async () => {
    const { id } = test.home.organization;
    const form = /<section[^>]*class="(?:[^"]* )?form[" ]/;
    for (const list of ['teams', 'projects']) {
      const path = `organizations/${id}/${list}/?_form=post`;
      expect([path, form.test(await htmlOf(test.as.superuser, path))]).toEqual([path, true]);
      const html = await htmlOf(test.as.orgMember, path);
      expect([path, html.includes('<h1'), form.test(html)]).toEqual([path, true, false]);
    }
    await test.make.grant('organization', test.home.organization, 'project_admin_role', {
      user: test.as.users.orgMember,
    });
    const list = `organizations/${id}/projects/`;
    expect(await htmlOf(test.as.orgMember, list)).toMatch(/<a\b[^>]*>\s*Add\s*</);
    expect(await htmlOf(test.as.orgMember, `${list}?_form=post`)).toMatch(form);
  });
});
