import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, describePagesBothWays, pick } from './browser.js';
import { describeJourney, describeJourneyBothWays } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const superuser = () => ({ test, user: test.as.users.superuser });
const orgAdmin = () => ({ test, user: test.as.users.orgAdmin });

const template = async (name: string): Promise<Row> => {
  const project = await test.make.project({ organization: test.home.organization.id });
  return test.make.jobTemplate({ name, project: project.id });
};

describeJourneyBothWays(
  'giving a new user execute on a template, and finding the reason for the access',
  superuser,
  8,
  async (walk) => {
    const { page, mark } = walk;
    const { id } = await template(`Deploy ${mark}`);
    await walk.open('Organizations');
    await page.getByLabel('Name of the organization').fill(`Shop ${mark}`);
    await walk.look('organizations');
    await walk.button('Create');
    await page.getByText('Created.', { exact: true }).waitFor();
    await page.getByLabel('Name of the new team').fill(`Operations ${mark}`);
    await walk.look('organization');
    await walk.button('Create team');
    await page.getByText('Created.', { exact: true }).waitFor();
    await page.getByLabel('New user').fill(`amara-${mark}`);
    await page.getByLabel('Password').fill('a good password');
    await walk.button('Create and add');
    const members = page.locator('#members');
    await members.getByRole('link', { name: `amara-${mark}` }).waitFor();
    await walk.choose(page.locator('#grant-role'), `Execute on Deploy ${mark}`);
    await walk.button('Grant');
    await page
      .locator('#may')
      .getByRole('link', { name: `Deploy ${mark}` })
      .waitFor();
    await walk.look('team');
    await walk.link(`amara-${mark}`, members);
    const row = page.locator('#may').getByRole('row', { name: `Execute on Deploy ${mark}` });
    await row.waitFor();
    expect(await row.innerText()).toContain(`by team Operations ${mark}`);
    await walk.look('user');
    const { body } = await test.as.superuser
      .get(`job_templates/${id}/access_list/?username=amara-${mark}`)
      .expect(200);
    expect(body.results[0].summary_fields.direct_access[0].role.name).toBe('Execute');
  },
);

describeJourney('granting and revoking a role in the access list', orgAdmin, 9, async (walk) => {
  const { page, mark } = walk;
  const name = `Release ${mark}`;
  const { id } = await template(name);
  await walk.open('Templates');
  await walk.link(name);
  await walk.link('Access', page.locator('.tabs'));
  // Opening and choosing.
  walk.clicks += 2;
  await page.getByLabel('Role').selectOption('Execute: May run the job template');
  await walk.choose(page.locator('#grant-to'), 'Home Team');
  await walk.button('Grant');
  const team = page.getByRole('row', { name: /^Home Team team/ });
  await team.waitFor();
  await page.getByRole('row', { name: /^orgAdmin user/ }).waitFor();
  expect(await page.getByRole('row', { name: /^orgAdmin user/ }).innerText()).toContain(
    'Admin of organization Home',
  );
  await walk.look('access');
  const path = `job_templates/${id}/access_list/?username=teamMember`;
  expect((await test.as.superuser.get(path)).body.count).toBe(1);
  await walk.button(/^Revoke Execute from Home Team/, team);
  await page.getByText('Removed from the list.').waitFor();
  expect(await team.count()).toBe(0);
  expect((await test.as.superuser.get(path)).body.count).toBe(0);
});

describePages('granting', orgAdmin, (open, javaScriptEnabled) => {
  it('shows a refusal at its form, once', async () => {
    const { page } = open;
    const credential = await test.make.credential({ organization: test.home.organization.id });
    await page.goto(`/api/v2/credentials/${credential.id}/access_list/`);
    await page.getByLabel('Role').selectOption({ index: 1 });
    await pick(page.locator('#grant-to'), 'nobody', javaScriptEnabled);
    await page.getByRole('button', { name: 'Grant', exact: true }).click();
    await page.waitForURL(`**/credentials/${credential.id}/access_list/#access`);
    const alert = page.locator('#access').getByRole('alert');
    await alert.getByText("a user not in the credentials' organization").waitFor();
    expect(await page.getByLabel('Role').inputValue()).not.toBe('');
    await page.reload();
    expect(await alert.count()).toBe(0);
  });

  it('is offered to users with permission, like revoking', async () => {
    const { page } = open;
    await page.goto(`/api/v2/teams/${test.home.team.id}/access_list/`);
    const revokes = page.getByRole('button', { name: /^Revoke/ });
    expect(await revokes.count()).toBeGreaterThan(2);
    await page.goto(`/api/v2/users/${test.as.users.superuser.id}/`);
    await page.getByRole('heading', { name: 'Roles of superuser' }).waitFor();
    await page.getByText('Superuser: has every permission.').waitFor();
  });
});

// Scripts make a search box of the choice.
describePagesBothWays('granting with many teams', orgAdmin, (open, javaScriptEnabled) => {
  it('finds a team beyond the first choices', async () => {
    const { page } = open;
    const made = await Promise.all(
      Array.from({ length: 51 }, (_, n) =>
        test.make.team({
          name: `Crowd ${String(n).padStart(2, '0')} ${String(javaScriptEnabled)}`,
          organization: test.home.organization.id,
        }),
      ),
    );
    const last = String(made.at(-1)?.name);
    const { id } = await template(`Crowded ${String(javaScriptEnabled)}`);
    await page.goto(`/api/v2/job_templates/${id}/access_list/`);
    if (!javaScriptEnabled) {
      await page.getByLabel('Not in the list?').fill(last);
      await page.getByRole('button', { name: 'Search' }).click();
    }
    await page.getByLabel('Role').selectOption({ index: 1 });
    await pick(page.locator('#grant-to'), last, javaScriptEnabled);
    await page.getByRole('button', { name: 'Grant', exact: true }).click();
    await page.getByRole('row', { name: new RegExp(`^${last} team`) }).waitFor();
  });
});
