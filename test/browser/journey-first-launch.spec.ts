/**
 * The checklist of the dashboard leads from an empty installation to the first run. The test starts a browser
 * to count the clicks; the sync of the project is written to the database.
 */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describeJourney } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

describeJourney('a first project, inventory, template and launch', session, 12, async (walk) => {
  const { page, mark } = walk;
  // Removes the objects of earlier walks of a deep run.
  await test.database.execute(sql`DELETE FROM unified_jobs`);
  await test.database.execute(
    sql`DELETE FROM unified_job_templates WHERE type <> 'system_job_template'`,
  );
  await test.database.execute(sql`DELETE FROM inventories`);
  await page.reload();
  const steps = page.locator('#setup');
  await walk.link('Add a project', steps);
  await page.getByLabel('Name *').fill(`Site ${mark}`);
  await page.getByLabel('URL of the repository').fill('https://git.shop.example/site.git');
  await walk.button('Create project');
  await page.getByText('Created.', { exact: true }).waitFor();
  await test.database.execute(sql`
    UPDATE unified_job_templates SET status = 'successful', playbook_files = '["site.yml"]'
    WHERE type = 'project'`);
  await walk.open('Inventories');
  await walk.link('Create inventory');
  await page.getByLabel('Name *').fill(`Servers ${mark}`);
  await walk.button('Create inventory');
  await page.getByText('Created.', { exact: true }).waitFor();
  await walk.open('Dashboard');
  await walk.look('first-steps');
  await walk.link('Create a job template', steps);
  await page.getByLabel('Name *').fill(`Deploy ${mark}`);
  await walk.button('Create job template');
  await walk.button('Launch');
  await page.getByText('The run is pending.').waitFor();
});
