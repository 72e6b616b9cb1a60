/** A new user creates a project from a repository, and a template that runs one of its playbooks. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describeJourney } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

/** Finishes the sync of a project as a worker does. */
const synced = (name: string): Promise<Row | undefined> =>
  test.database.row<Row>(sql`
    UPDATE unified_job_templates SET status = 'successful', last_job_run = now(),
      playbook_files = '["deploy.yml", "site.yml"]'
    WHERE type = 'project' AND name = ${name} RETURNING id, scm_type, scm_url, scm_branch`);

describeJourney('creating a project and a template for it', session, 12, async (walk) => {
  const { page, mark } = walk;
  const name = `Shop ${mark}`;
  await walk.open('Projects');
  await walk.link('Add');
  await page.getByLabel('Name *').fill(name);
  await walk.choose(page.locator('#post-organization'), 'Home');
  // Git is preselected, and all required fields are visible without unfolding a section.
  await page.getByLabel('URL of the repository').fill('https://git.shop.example/site.git');
  await page.getByLabel('Branch', { exact: true }).fill('main');
  expect(await page.getByLabel('Credential', { exact: true }).isVisible()).toBe(true);
  await walk.look('project-form');
  await walk.button('Create project');
  await page.getByText('Created.', { exact: true }).waitFor();
  // No template can be created before the files of the project are there.
  expect(await page.getByRole('link', { name: 'New job template' }).count()).toBe(0);
  const project = await synced(name);
  expect(project).toMatchObject({ scm_type: 'git', scm_branch: 'main' });
  expect(project?.scm_url).toBe('https://git.shop.example/site.git');
  await page.reload();
  await walk.look('project-synced');

  const inventory = await test.make.inventory({ name: `Hosts ${mark}` });
  await walk.link('New job template');
  await page.getByLabel('Name *').fill(`Deploy ${name}`);
  const offered = page.locator('#post-playbook option');
  expect(await offered.allTextContents()).toEqual(['---------', 'deploy.yml', 'site.yml']);
  await page.getByLabel('Playbook').selectOption('site.yml');
  await walk.choose(page.locator('#post-inventory'), String(inventory.name));
  await walk.look('template-form');
  await walk.button('Create job template');
  await page.getByRole('heading', { level: 1, name: `Deploy ${name}` }).waitFor();
  const made = await test.database.row<Row>(sql`
    SELECT project_id, playbook FROM unified_job_templates WHERE name = ${`Deploy ${name}`}`);
  expect(made).toEqual({ project_id: project?.id, playbook: 'site.yml' });
});

describeJourney('lists of playbooks and inventories', session, 2, async (walk) => {
  const { page, mark } = walk;
  const project = await test.make.project({
    name: `Listed ${mark}`,
    scm_type: 'git',
    scm_url: 'https://git.shop.example/listed.git',
    organization: test.home.organization.id,
  });
  await test.make.jobTemplate({ name: `Of ${mark}`, project: project.id });
  const headings = (): Promise<string[]> => page.locator('th[scope="col"]').allTextContents();
  await walk.open('Projects');
  const row = page.getByRole('row', { name: `Listed ${mark}` });
  expect(await row.innerText()).toContain('https://git.shop.example/listed.git');
  expect(await row.innerText()).toContain('Git');
  await walk.open('Templates');
  // The list shows references by name only, and no column of ids.
  expect((await headings()).map((text) => text.trim())).toEqual([
    'Select',
    'Name',
    'Type',
    'Status',
    'Organization',
    'Last run',
    'Actions',
  ]);
  await walk.look('templates');
});

describe('the form of a job template', () => {
  const formOf = async (project: unknown): Promise<string> =>
    (
      await test.as.orgAdmin
        .get(`job_templates/?_with.project=${String(project)}`)
        .set('Accept', 'text/html')
        .expect(200)
    ).text;

  it('selects the only playbook, and shows no playbooks of unreadable projects', async () => {
    const { make, home } = test;
    const own = await make.project({ name: 'Own', organization: home.organization.id });
    const other = await make.project({
      name: 'Other',
      organization: (await make.organization()).id,
    });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET scm_type = 'git', playbook_files = '["only-one.yml"]'
      WHERE id IN (${own.id}, ${other.id})`);
    expect(await formOf(own.id)).toMatch(/<option\s+value="only-one.yml" selected/);
    for (const project of [other.id, 999_999, 'x', '']) {
      const form = await formOf(project);
      expect([project, form.includes('post-playbook'), form.includes('only-one')]).toEqual([
        project,
        true,
        false,
      ]);
    }
  });
});
