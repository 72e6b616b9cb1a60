import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, pick } from './browser.js';
import { htmlOf, optionsOf } from './html.js';
import { describeJourney, describeJourneyInAllWays } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

const names = async (path: string): Promise<unknown[]> => {
  const { body } = await test.as.superuser.get(`${path}?order_by=name`).expect(200);
  return body.results.map(({ name }: Row) => name);
};
/** Returns the choices of a form without scripts. */
const offered = async (path: string): Promise<string[]> =>
  optionsOf(await htmlOf(test.as.orgAdmin, `${path}?_form=post`), 'attach-id').map(
    ({ label }) => label,
  );
const idIn = (url: string): string => /\/(\d+)\//.exec(url)?.[1] ?? '';

// Represents the pages of objects.
describeJourneyInAllWays('an inventory with three hosts and a group', session, 10, async (walk) => {
  const { page, mark } = walk;
  await walk.open('Inventories');
  await walk.link('Add');
  await page.getByLabel('Name *').fill(`Shop ${mark}`);
  await walk.button('Create inventory');
  await page.getByRole('link', { name: '0 hosts' }).waitFor();
  await walk.look('inventory-new');
  await page.getByLabel('Hosts', { exact: true }).fill('web1\nweb2 ansible_host=10.0.0.2\ndb1');
  await walk.button('Add hosts');
  await page.getByRole('link', { name: '3 hosts' }).waitFor();
  await walk.look('inventory-with-hosts');
  await page.getByLabel('Group', { exact: true }).fill('web');
  await walk.click(page.getByLabel('web1'));
  await walk.click(page.getByLabel('web2'));
  await walk.button('Add to the group');
  await page.locator('#hosts').getByRole('link', { name: 'web', exact: true }).waitFor();
  await walk.look('inventory-with-group');
  const path = `inventories/${idIn(page.url())}`;
  expect(await names(`${path}/hosts/`)).toEqual(['db1', 'web1', 'web2']);
  const { body } = await test.as.superuser.get(`${path}/groups/`).expect(200);
  expect(await names(`groups/${body.results[0].id}/hosts/`)).toEqual(['web1', 'web2']);
});

describeJourney('creating a smart inventory', session, 3, async (walk) => {
  const { page, mark } = walk;
  await walk.open('Inventories');
  await walk.link('New smart inventory');
  await page.getByLabel('Name *').fill(`Webs ${mark}`);
  await page.getByLabel('Host filter').fill('name__startswith=web');
  await walk.look('inventory-smart-form');
  await walk.button('Create inventory');
  await page.getByText('Created.', { exact: true }).waitFor();
  await walk.look('inventory-smart');
  const { body } = await test.as.superuser.get(`inventories/${idIn(page.url())}/`).expect(200);
  expect(body).toMatchObject({ kind: 'smart', host_filter: 'name__startswith=web' });
});

describeJourney('creating a constructed inventory', session, 6, async (walk) => {
  const { page, mark } = walk;
  const input = await test.make.inventory({
    name: `Region ${mark}`,
    organization: test.home.organization.id,
  });
  await walk.open('Inventories');
  await walk.link('New constructed inventory');
  await page.getByLabel('Name *').fill(`All ${mark}`);
  await walk.button('Create constructed inventory');
  await page.getByText('Created.', { exact: true }).waitFor();
  const id = idIn(page.url());
  const card = page.locator('#sources');
  await card.getByRole('button', { name: 'Update now' }).waitFor();
  await card.getByRole('link', { name: 'Rules' }).waitFor();
  await walk.look('inventory-constructed');
  await walk.link('Inputs', card);
  await walk.link('Add');
  await pick(page.locator('#attach-id'), String(input.name), walk.hasScripts);
  await walk.button('Add');
  expect(await names(`inventories/${id}/input_inventories/`)).toEqual([`Region ${mark}`]);
});

describePages('forms of hosts and groups', session, (open, javaScriptEnabled) => {
  const inventory = (): Promise<Row> =>
    test.make.inventory({ organization: test.home.organization.id });

  it('show the error of a line with its number, and keep the other lines', async () => {
    const { page } = open;
    const { id } = await inventory();
    await page.goto(`/api/v2/inventories/${id}/`);
    const typed = 'web1\n\nweb2 port=80 colour\n';
    await page.getByLabel('Hosts', { exact: true }).fill(typed);
    await page.getByRole('button', { name: 'Add hosts' }).click();
    await page.getByText('400 Bad Request').waitFor();
    const area = page.locator('#post-lines');
    expect(await area.inputValue()).toBe(typed);
    expect(await page.locator('#post-lines-errors').textContent()).toContain('Line 3: “colour”');
    await area.fill(`web1\n\n${'x'.repeat(600)}`);
    await page.getByRole('button', { name: 'Host create' }).first().click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await page.locator('#post-lines-errors').textContent()).toContain('Line 3: name');
    await area.fill('web1');
    await page.getByRole('button', { name: 'Host create' }).first().click();
    await page.getByRole('link', { name: 'One host' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/api/v2/inventories/${id}/`);
    expect(await names(`inventories/${id}/hosts/`)).toEqual(['web1']);
  });

  it('offer a group the hosts of its own inventory only', async () => {
    const { page } = open;
    const own = await inventory();
    const other = await inventory();
    const named = `own-${javaScriptEnabled}`;
    await test.make.host(own, { name: named });
    await test.make.host(other, { name: `${named}-elsewhere` });
    const group = await test.make.group(own);
    await page.goto(`/api/v2/groups/${group.id}/hosts/?_form=post`);
    const control = page.locator('#attach-id');
    if (javaScriptEnabled) {
      await control.click();
      await page.getByRole('option', { name: named }).first().waitFor();
      expect(await page.locator('[role=option]').allTextContents()).toEqual([named]);
      await page.keyboard.press('Escape');
    }
    expect(await offered(`groups/${group.id}/hosts/`)).toEqual(['---------', named]);
    await pick(control, named, javaScriptEnabled);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added to the list.').waitFor();
    expect(await names(`groups/${group.id}/hosts/`)).toEqual([named]);
  });

  it('offer a group none of its ancestors', async () => {
    const { page } = open;
    const home = await inventory();
    const top = await test.make.group(home, { name: 'top' });
    const middle = await test.make.group(home, { name: 'middle' });
    await test.make.group(home, { name: 'free' });
    await test.as.superuser.post(`groups/${top.id}/children/`, { id: middle.id }).expect(204);
    await page.goto(`/api/v2/groups/${middle.id}/children/?_form=post`);
    const control = page.locator('#attach-id');
    if (javaScriptEnabled) {
      await control.click();
      await page.getByRole('option', { name: 'free' }).waitFor();
      expect(await page.locator('[role=option]').allTextContents()).toEqual(['free']);
    }
    expect(await offered(`groups/${middle.id}/children/`)).toEqual(['---------', 'free']);
  });
});
