/** After a refusal the form shows the reason and still has the typed text. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { boot, type TestApp } from '../support/boot.js';
import { describeJourney } from './walk.js';

const PASSWORD = 'a good password';

let test: TestApp;
let boss: Row;

beforeAll(async () => {
  test = await boot();
  boss = await test.make.user({ username: 'boss', password: PASSWORD, is_superuser: true });
});
afterAll(() => test.close());

const session = () => ({ test, user: boss });

describeJourney('repeating a change after two refusals', session, 8, async (walk) => {
  const { page, mark } = walk;
  const { id } = await test.make.jobTemplate({ name: `Deploy ${mark}` });
  const typed = `Deploys "the shop" of ${mark}\nand nothing else <b>`;
  await walk.open('Templates');
  await walk.link(`Deploy ${mark}`);
  await walk.link('Edit');
  const [name, description] = [page.locator('#patch-name'), page.locator('#patch-description')];
  const save = (): Promise<void> => walk.button('Save');
  await name.fill('   ');
  await description.fill(typed);
  await save();
  // The error is shown next to the field and at the top.
  await page.locator('#patch-name-errors').getByText('This field may not be blank.').waitFor();
  await page.getByRole('alert').first().waitFor();
  expect(await description.inputValue()).toBe(typed);
  await walk.look('refused-change');
  await name.fill(`Renamed ${mark}`);
  await page.context().clearCookies({ name: SESSION_COOKIE });
  await save();
  await page.getByText('Your session has ended.').waitFor();
  await walk.look('session-ended');
  await page.getByLabel('Username').fill('boss');
  await page.getByLabel('Password').fill(PASSWORD);
  // The clicks from here on are the cost of the ended session.
  const before = walk.clicks;
  await walk.button('Log in');
  if (!walk.hasScripts) await walk.button('Back to the form');
  await page.getByText('is restored and has not been sent yet').waitFor();
  expect([await name.inputValue(), await description.inputValue()]).toEqual([
    `Renamed ${mark}`,
    typed,
  ]);
  await save();
  await page.getByText('Saved.').waitFor();
  expect(walk.clicks - before).toBe(walk.hasScripts ? 2 : 3);
  const { body } = await test.as.superuser.get(`job_templates/${id}/`).expect(200);
  expect([body.name, body.description.replaceAll('\r\n', '\n')]).toEqual([
    `Renamed ${mark}`,
    typed,
  ]);
});

describeJourney(
  'opening an unreadable object',
  () => ({ test, user: test.as.users.nobody }),
  1,
  async (walk) => {
    const { page, mark } = walk;
    const { id } = await test.make.jobTemplate({ name: `Secret ${mark}` });
    await page.goto(`/api/v2/job_templates/${id}/`);
    const alert = page.getByRole('alert');
    await alert.getByText('Read of the job template').waitFor();
    expect(await page.content()).not.toContain(`Secret ${mark}`);
    await walk.look('refused');
    await walk.open('Templates');
    await page.getByRole('heading', { level: 1, name: 'All templates' }).waitFor();
  },
);
