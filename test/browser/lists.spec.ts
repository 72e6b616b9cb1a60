import { boot, type TestApp } from '../support/boot.js';
import { describePages, openApi } from './browser.js';
import { htmlOf, optionsOf } from './html.js';

let test: TestApp;
let list: string;

beforeAll(async () => {
  test = await boot();
  const organization = (await test.make.organization()).id;
  for (let number = 1; number <= 30; number++) {
    await test.make.team({ name: `Team ${String(number).padStart(2, '0')}`, organization });
  }
  list = `/api/v2/teams/?organization=${organization}&page_size=50`;
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('lists', session, (open, javaScriptEnabled) => {
  it('contain the JSON of their first rows, and link to the complete list', async () => {
    const { page } = open;
    const rowsOf = (text: string | null) =>
      (JSON.parse(text ?? '') as { results: { name: string }[] }).results.map(({ name }) => name);
    await page.goto(list);
    expect(await page.getByRole('rowheader').count()).toBe(30);
    await openApi(page);
    await page.getByText('JSON', { exact: true }).click();
    const shown = rowsOf(await page.locator('.json').textContent());
    expect([shown.length, shown[0], shown[24]]).toEqual([25, 'Team 01', 'Team 25']);
    await page.getByText('The first 25 of 30 rows.').waitFor();
    await page.getByRole('link', { name: 'All as JSON' }).click();
    expect(rowsOf(await page.locator('body').textContent())).toHaveLength(30);
    await page.goto(list.replace('=50', '=25'));
    expect(rowsOf(await page.locator('.json').textContent())).toHaveLength(25);
    expect(await page.getByText('All as JSON').count()).toBe(0);
  });

  it('show their rows first on a small screen, with the filters collapsed', async () => {
    const { page } = open;
    const fold = page.getByText('More filters and order');
    const order = page.getByLabel('Order');
    await page.goto(list);
    expect([await order.isVisible(), await fold.isVisible()]).toEqual([false, true]);
    await page.setViewportSize({ width: 390, height: 844 });
    const first = await page.getByRole('rowheader', { name: 'Team 01' }).boundingBox();
    expect(first?.y).toBeLessThan(844);
    // Each row is a card, and each of its cells has a label.
    const row = page.getByRole('row', { name: /Team 01/ });
    const cell = row.locator('td[data-label="Organization"]');
    const label = `getComputedStyle(document.querySelector('td[data-label="Organization"]'), '::before').content`;
    expect(await page.evaluate(label)).toBe('"Organization"');
    const [card, inside] = [await row.boundingBox(), await cell.boundingBox()];
    expect(inside!.y).toBeGreaterThan(first!.y + first!.height - 1);
    expect(inside!.x + inside!.width).toBeLessThanOrEqual(card!.x + card!.width);
    expect(card!.width).toBeLessThan(390);
    expect(await order.isVisible()).toBe(false);
    await fold.click();
    await order.selectOption('Name, descending');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('rowheader').first().getByText('Team 30').waitFor();
    expect(await order.isVisible()).toBe(false);
  });

  it('and other pages fit a small screen with long words', async () => {
    const { page } = open;
    const long = 'https://wiki.example.com/operations/'.repeat(10);
    const project = await test.make.project();
    const credential = await test.make.credential({ name: `${long} credential` });
    const template = await test.make.jobTemplate({
      name: long,
      description: long,
      project: project.id,
    });
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [
      `job_templates/${template.id}/`,
      `job_templates/${template.id}/?_form=patch`,
      `projects/${project.id}/`,
      `projects/${project.id}/?_form=delete`,
      `credentials/${credential.id}/`,
    ]) {
      await page.goto(`/api/v2/${path}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        path,
        390,
      ]);
    }
  });

  it('link to all members of a large team', async () => {
    const { page } = open;
    const organization = test.home.organization.id;
    const team = await test.make.team({ name: `Large ${String(javaScriptEnabled)}`, organization });
    for (let number = 10; number < 61; number += 1) {
      const user = await test.make.user({
        username: `large-${number}-${String(javaScriptEnabled)}`,
      });
      await test.make.grant('team', team, 'member_role', { user });
    }
    await page.goto(`/api/v2/teams/${team.id}/`);
    const members = page.locator('#members');
    expect(await members.getByRole('listitem').count()).toBe(50);
    expect(await members.innerText()).toContain('The first 50, by name.');
    await members.getByRole('link', { name: 'All members' }).click();
    await page.getByText('51 users').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('rowheader', { name: `large-60-${String(javaScriptEnabled)}` }).waitFor();
  });

  it('of activity are newest first in the links of objects', async () => {
    const { page } = open;
    const organization = test.home.organization.id;
    const { body: team } = await test.as.superuser
      .post('teams/', { name: `Followed ${String(javaScriptEnabled)}`, organization })
      .expect(201);
    const url = `teams/${team.id}/`;
    await test.as.superuser.patch(url, { description: 'Who is on call' }).expect(200);
    await page.goto(`/api/v2/${url}`);
    await page.locator('.tabs').getByRole('link', { name: 'Activity' }).click();
    await page.getByText('2 entries').waitFor();
    const rows = page.locator('tbody tr');
    expect(await rows.first().innerText()).toContain('changed team Followed');
    expect(await rows.last().innerText()).toContain('created team Followed');
    expect(await page.getByLabel('Order').inputValue()).toBe('-id');
  });

  it('link to all roles of a user with very many roles', async () => {
    const { page } = open;
    const organization = test.home.organization.id;
    const user = await test.make.user({ username: `many-${String(javaScriptEnabled)}` });
    for (let number = 1; number <= 67; number += 1) {
      const team = await test.make.team({
        name: `Held ${String(javaScriptEnabled)} ${number}`,
        organization,
      });
      for (const role of ['admin_role', 'member_role', 'read_role']) {
        await test.make.grant('team', team, role, { user });
      }
    }
    await page.goto(`/api/v2/users/${user.id}/`);
    const may = page.locator('#may');
    await may.getByText('Some roles may be missing.').waitFor();
    await may.getByRole('link', { name: 'All granted roles' }).click();
    await page.getByText('201 roles').waitFor();
  });
});

describe('the filters of lists', () => {
  it.each([
    ['name', 'contains', '0'],
    ['name', 'is', 'Team 07'],
    ['name', 'starts with', 'Team'],
    ['id', 'is greater than', '3'],
    ['id', 'is greater than', 'three'],
    ['id', 'is one of (comma-separated)', '1, 2'],
    ['created', 'is greater than', '2026-01-01'],
    ['created', 'is less than', 'yesterday'],
    ['description', 'is empty', ''],
    ['organization', 'is', '1'],
    ['organization', 'contains', 'Home'],
  ])('can be removed from %s %s %s', async (field, comparison, value) => {
    const caller = test.as.superuser;
    const form = await htmlOf(caller, 'teams/');
    expect(optionsOf(form, 'filter-field').map((one) => one.value)).toContain(field);
    const lookup = optionsOf(form, 'filter-lookup').find(({ label }) => label === comparison);
    const query = { _field: field, _lookup: String(lookup?.value), _value: value };
    const filtered = await htmlOf(caller, `teams/?${String(new URLSearchParams(query))}`);
    const link = /<a\b[^>]*\shref="([^"]*)"[^>]*>\s*<span class="hidden">Remove filter /;
    expect(link.exec(filtered)?.[1]).toBe('/api/v2/teams/');
    // The page of a refused filter has them too.
    expect(filtered).toContain('id="filter-field"');
  });

  it('disappear with the last of them', async () => {
    const rows = (await htmlOf(test.as.superuser, 'teams/')).match(/<th scope="row">/g);
    expect(rows?.length).toBeGreaterThan(20);
  });
});
