import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, openFilters, openUserMenu } from './browser.js';
import { htmlOf, optionsOf, textIn, wordsOf } from './html.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('texts of pages', session, (open) => {
  it('explain an empty list, and what to do next', async () => {
    const { page } = open;
    await page.goto('/api/v2/notifications/');
    await page.getByRole('link', { name: 'Add a notification to a template' }).click();
    await page.getByRole('heading', { name: 'All templates' }).waitFor();
    await page.goto('/api/v2/notification_templates/');
    await page.getByRole('link', { name: 'Create notification template' }).click();
    await page.getByText('Notification type:').waitFor();
    await page.goto('/api/v2/notification_templates/?name=none');
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByText('No notification templates yet.').waitFor();
  });

  it('name an object once, and by its type if it has no name', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    const [job] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, launch_type,
        created_by_id)
      VALUES ('job', 'Deployed', 'successful', ${template.id}, 'manual',
        ${test.as.users.superuser.id}) RETURNING id`);
    const [first, second] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict)
      SELECT ${template.id}, 'service_a', 'push', gen_random_uuid(), 'accepted'
      FROM generate_series(1, 2) RETURNING id`);
    await test.database.execute(sql`
      UPDATE webhook_deliveries SET redelivery_of_id = ${first?.id} WHERE id = ${second?.id}`);
    await page.goto(`/api/v2/jobs/${job?.id}/job_events/`);
    expect(await page.locator('.description').textContent()).toContain('Events of one job');
    expect(await page.locator('.description').textContent()).not.toMatch(/job job/i);
    await page.goto(`/api/v2/webhook_deliveries/${second?.id}/`);
    await page.getByRole('link', { name: `Webhook delivery ${first?.id}` }).waitFor();
    await page.goto(`/api/v2/jobs/${job?.id}/`);
    const fields = page.locator('#object-fields');
    await fields.getByRole('link', { name: 'superuser', exact: true }).first().waitFor();
    expect(await fields.textContent()).not.toContain('{"id"');
    await page.goto(`/api/v2/users/${test.as.users.superuser.id}/`);
    expect(await fields.textContent()).not.toContain('Password');
  });

  it('label types, fields and links readably, while OPTIONS keeps the names of the contract', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    const project = `projects/${template.project_id}/`;
    const shownTexts = async (): Promise<string[]> => {
      // Text for programs keeps their names.
      const texts = await page.locator('main :not(pre, code, textarea)').allTextContents();
      return texts.map((text) => text.trim());
    };
    for (const [path, kind, words] of [
      [project, 'Project', ['Source control', 'Failure notifications', 'URL by name']],
      [`job_templates/${template.id}/`, 'Job template', ['Survey', 'Roles', 'Prompt for limit']],
    ] as const) {
      await page.goto(`/api/v2/${path}`);
      expect(await page.locator('.description').innerText()).toBe(kind);
      const texts = await shownTexts();
      for (const word of words) expect(texts).toContain(word);
      expect(texts.filter((text) => /(Detail|List)$|[Ss]cm\b|[Ss]urvey spec/.test(text))).toEqual(
        [],
      );
    }
    await page.goto(`/api/v2/job_templates/${template.id}/access_list/`);
    expect(await page.locator('.description').innerText()).not.toContain('List');
    await page.goto('/api/v2/projects/');
    await page.getByLabel('Source control', { exact: true }).first().selectOption('Git');
    const { body } = await test.as.superuser.options('projects/').expect(200);
    expect(body.name).toBe('Project List');
    expect(body.actions.GET.scm_type.label).toBe('Scm type');
  });

  it('label types consistently in roles and on the dashboard', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ name: 'Held' });
    const { orgMember } = test.as.users;
    await test.make.grant('job_template', template, 'execute_role', { user: orgMember });
    await page.goto(`/api/v2/users/${orgMember.id}/`);
    const kinds = page.locator('#may th[scope="rowgroup"]');
    expect(await kinds.allInnerTexts()).toContain('Job template');
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.goto('/');
    const seen = page.getByRole('region', { name: 'Recently viewed' }).getByRole('listitem');
    expect((await seen.first().innerText()).split(/\s*\n\s*/)).toEqual(['Held', 'Job template']);
  });

  it('name related objects, and show no URL as a field', async () => {
    const { page } = open;
    const workflow = await test.make.workflowTemplate({ name: 'Released' });
    const run = await test.database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id)
      VALUES ('workflow_job', 'Released', 'successful', ${workflow.id}) RETURNING id`);
    await page.goto(`/api/v2/workflow_jobs/${run?.id}/`);
    const fields = page.locator('#object-fields');
    const texts = fields.locator('div', { has: page.getByText('Workflow job template') });
    expect(await texts.last().getByRole('link').innerText()).toBe('Released');
    expect(await fields.innerText()).not.toContain('/api/v2/');
  });

  it('offer filters for empty and null fields', async () => {
    const { page } = open;
    const organization = (await test.make.organization()).id;
    await test.make.team({ name: 'Filled', description: 'with words', organization });
    await test.make.team({ name: 'Empty', organization });
    await page.goto(`/api/v2/teams/?organization=${organization}`);
    await openFilters(page);
    await page.getByLabel('Field').selectOption('description');
    await page.getByLabel('Comparison').selectOption('is empty');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('link', { name: 'Remove filter description is empty' }).waitFor();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['Empty']);
    await openFilters(page);
    await page.getByLabel('Field').selectOption('description');
    await page.getByLabel('Comparison').selectOption('is not empty');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('No results match the filters.').waitFor();
    await page.getByRole('link', { name: 'Remove filter description is empty' }).click();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['Filled']);
  });

  it('show the current user on a page that does not exist', async () => {
    const { page } = open;
    const answer = await page.goto('/nonsense/');
    expect(answer?.status()).toBe(404);
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.getByRole('link', { name: 'Log in' }).count()).toBe(0);
  });
});

describe('labels', () => {
  const html = (path: string): Promise<string> => htmlOf(test.as.superuser, path);
  const HEADING = /<h1\b[^>]*>/;

  it.each([
    ['inventories', '0 inventories'],
    ['webhook_deliveries', '0 webhook deliveries'],
    ['execution_environments', '0 execution environments'],
  ])('have the plural of %s', async (path, text) => {
    expect(wordsOf(await html(`${path}/?id=0`))).toContain(text);
  });

  it('are readable for an access token and its application', async () => {
    const { body } = await test.as.superuser.post('tokens/', { scope: 'read' }).expect(201);
    expect(wordsOf(await html(`tokens/?id=${body.id}`))).toContain('1 access token');
    const form = wordsOf(await html('tokens/?_form=post')).join(' ');
    expect(form).toContain('Application that acts with the token');
    expect(form).not.toContain('Always null');
  });

  it.each([
    ['activity_stream', 'object1', 'Kind of object'],
    ['instances', 'cpu', 'CPU'],
  ])('in the filters of %s include the field %s', async (path, value, label) => {
    expect(optionsOf(await html(`${path}/`), 'filter-field')).toContainEqual({ value, label });
  });

  it('in the title of a subpage name its object', async () => {
    const template = await test.make.jobTemplate({ name: 'Patch' });
    const launch = await html(`job_templates/${template.id}/launch/`);
    expect(textIn(launch, HEADING)).toBe('Launch – Patch');
    expect(launch).toContain('<title>Launch – Patch – Automation Controller</title>');
    const page = await html(`job_templates/${template.id}/`);
    expect(page).toContain('<title>Patch – Automation Controller</title>');
  });

  it('are readable for jobs and templates of all types', async () => {
    const template = await test.make.jobTemplate();
    const [job] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id)
      VALUES ('job', 'Deployed', 'successful', ${template.id}) RETURNING id`);
    for (const [path, title] of [
      ['unified_jobs/', 'All jobs'],
      ['unified_job_templates/', 'All templates'],
      [`jobs/${job?.id}/`, 'Deployed'],
      ['schedules/', 'Schedules'],
    ] as const) {
      const page = await html(path);
      expect(textIn(page, HEADING)).toBe(title);
      expect(textIn(page, /<nav\b[^>]*class="crumbs[^>]*>/)).toContain(title);
      expect(wordsOf(page).filter((words) => /unified job/i.test(words))).toEqual([]);
    }
  });

  it('show that a template never ran', async () => {
    const template = await test.make.jobTemplate();
    const page = await html(`job_templates/${template.id}/`);
    const fields = page.slice(page.indexOf('id="object-fields"'));
    expect(textIn(fields, /<\w+\b[^>]*class="badge[^>]*>/)).toBe('Never run');
    expect(wordsOf(await html(`projects/${template.project_id}/`))).not.toContain('Never run');
  });

  it('show the default order of a list', async () => {
    const [usual] = optionsOf(await html('webhook_deliveries/'), 'order_by');
    expect(usual?.label).toBe('Newest first');
  });

  it('keep the filters if one of them is refused', async () => {
    const page = await html('teams/?created__gt=yesterday');
    expect(wordsOf(page).join(' ')).toContain('400 Bad Request');
    const remove = /<a\b[^>]*href="\/api\/v2\/teams\/"[^>]*>/g;
    const links = [...page.matchAll(remove)].map(({ index }) =>
      textIn(page.slice(index), /<a\b[^>]*>/),
    );
    expect(links).toContainEqual(
      expect.stringContaining('Remove filter Created is greater than yesterday'),
    );
  });
});
