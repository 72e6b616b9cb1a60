/** Small faults of pages that users have met, each as the server sends the page. */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { htmlOf, optionsOf, wordsOf } from './html.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it.each([
  ['ssh', false],
  ['hashivault_kv', true],
])('the page of a %s credential offers a test: %s', async (namespace, isOffered) => {
  const { id } = await test.make.credential({ namespace });
  const page = await htmlOf(test.as.superuser, `credentials/${id}/`);
  expect(wordsOf(page).includes('Test')).toBe(isOffered);
});

/** Creates a run with a status, and returns its path. */
async function pathOfRun(status: string): Promise<string> {
  const template = await test.make.jobTemplate();
  const run = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id)
    SELECT 'job', name, ${status}, ${status === 'failed'}, id, id FROM unified_job_templates
    WHERE id = ${template.id} RETURNING id`);
  return `jobs/${run?.id}/`;
}

it.each([
  ['running', true],
  ['failed', false],
])('the page of a %s run shows that it was launched: %s', async (status, isSaid) => {
  const caller = test.as.superuser.with({ Cookie: 'notice=launched' });
  const words = wordsOf(await htmlOf(caller, await pathOfRun(status)));
  expect(words.includes('Launched.')).toBe(isSaid);
});

it.each(['pending', 'running'])(
  'the page of a %s run shows the status above its output',
  async (status) => {
    const words = wordsOf(await htmlOf(test.as.superuser, await pathOfRun(status)));
    expect(words.filter((text) => text.startsWith('The run is'))).toEqual([
      `The run is ${status}.`,
    ]);
  },
);

it('the parts of an object have the same pages at its named URL', async () => {
  const { organization } = test.home;
  const project = await test.make.project({ organization: organization.id });
  const { name } = await test.make.jobTemplate({ name: 'Deploy & test', project: project.id });
  const path = `job_templates/${encodeURIComponent(`${name}++${organization.name}`)}/`;
  const webhook = wordsOf(await htmlOf(test.as.superuser, `${path}webhook/`));
  expect(webhook).not.toContain('Not found');
  expect(wordsOf(await htmlOf(test.as.superuser, `${path}access_list/`))).toContain('Grant');
});

it('a page links to readable objects, and names the others', async () => {
  const { as, make } = test;
  const inventory = await make.inventory({ name: 'Machines' });
  const template = await make.jobTemplate({ inventory: inventory.id });
  await make.grant('job_template', template, 'execute_role', { user: as.users.nobody });
  for (const path of [`job_templates/${template.id}/`, 'job_templates/']) {
    const link = `<a href="/api/v2/inventories/${inventory.id}/">Machines</a>`;
    expect([path, await htmlOf(as.superuser, path)]).toEqual([path, expect.stringContaining(link)]);
    const page = await htmlOf(as.nobody, path);
    expect(wordsOf(page)).toContain('Machines');
    expect(page).not.toContain(link);
  }
});

it('the tab of notifications leads to their card, also without permission to add one', async () => {
  const { as, make } = test;
  const template = await make.jobTemplate();
  await make.grant('job_template', template, 'execute_role', { user: as.users.nobody });
  const page = await htmlOf(as.nobody, `job_templates/${template.id}/`);
  expect(page).toContain(`href="/api/v2/job_templates/${template.id}/#notifications"`);
  expect(page).toContain('id="notifications"');
  expect(wordsOf(page)).toContain('No notifications');
});

it('the test messages of a notification template have readable names', async () => {
  const { id } = await test.make.notificationTemplate();
  const page = await htmlOf(test.as.superuser, `notification_templates/${id}/`);
  const labels = optionsOf(page, 'test-event').map(({ label }) => label);
  expect(labels).toContain('Workflow approval timed out');
});

it('the pages of a project and of a source explain why their updates failed', async () => {
  const project = await test.make.project();
  const inventory = await test.make.inventory();
  const source = await test.make.row('inventory_source', {
    name: 'Machines',
    inventory: inventory.id,
    source: 'ec2',
  });
  for (const [path, type, { id }] of [
    ['projects', 'project_update', project],
    ['inventory_sources', 'inventory_update', source],
  ] as const) {
    const explanation = `The branch "releases" of ${path} does not exist.`;
    await test.database.execute(sql`
      WITH update AS (
        INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, project_id,
          inventory_id, job_explanation)
        VALUES (${type}, 'Site', 'failed', true, ${id}, ${project.id}, ${inventory.id},
          ${explanation})
        RETURNING id)
      UPDATE unified_job_templates SET status = 'failed', last_job_id = update.id,
        last_job_failed = true FROM update WHERE unified_job_templates.id = ${id}`);
    expect(wordsOf(await htmlOf(test.as.superuser, `${path}/${id}/`))).toContain(explanation);
  }
});
