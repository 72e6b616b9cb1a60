/** Actions on the rows of lists and on selected rows, as pages without scripts send them. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { htmlOf, wordsOf } from './html.js';
import { browserForm, type BrowserForm } from './posting.js';

let test: TestApp;
let send: BrowserForm;

beforeAll(async () => {
  test = await boot();
  send = await browserForm(test, test.as.users.orgAdmin);
});
afterAll(() => test.close());

const own = async (name: string): Promise<Row> => {
  const project = await test.make.project({ organization: test.home.organization.id });
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  return test.make.jobTemplate({ name, project: project.id, inventory: inventory.id });
};
const runOf = async (template: Row, status: string): Promise<Row> => {
  const { body } = await test.as.superuser.post(`job_templates/${template.id}/launch/`).expect(201);
  const { id } = body as Row;
  await test.database.execute(sql`UPDATE unified_jobs SET status = ${status} WHERE id = ${id}`);
  return body as Row;
};
const exists = async ({ id }: Row): Promise<boolean> =>
  (await test.database.row(sql`SELECT 1 FROM unified_job_templates WHERE id = ${id}`)) !==
  undefined;

it('a selection is listed, deleted, and refused deletions are explained', async () => {
  const [first, second] = [await own('First of the shop'), await own('Second of the shop')];
  const busy = await own('Busy one');
  await runOf(busy, 'running');
  const foreign = await test.make.jobTemplate({ name: 'Of others' });
  const at = [first, second, busy, foreign].map(({ id }) => `job_template.${id}`);
  const query = at.map((one) => `at=${one}`).join('&');
  const asked = wordsOf(await htmlOf(test.as.orgAdmin, `/selection/?action=delete&${query}`));
  expect(asked).toContain('Delete 3 objects?');
  expect(asked).toEqual(expect.arrayContaining(['First of the shop', 'Second of the shop']));
  expect(asked.join(' ')).not.toContain('Of others');
  expect(await exists(first)).toBe(true);

  const { status, text } = await send('/selection/', {
    action: 'delete',
    at: at.join(','),
    back: '/x',
  });
  expect(status).toBe(200);
  const message = wordsOf(text);
  expect(message).toContain('Deleted 2 of 4 objects');
  expect(message.join(' ')).toMatch(/Busy one: .*running jobs/);
  expect(await Promise.all([first, second, busy, foreign].map(exists))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

it('a deletion that conflicts with another request does not stop the others', async () => {
  const [used, free] = [await own('Used meanwhile'), await own('Free')];
  const conflict = Object.assign(new Error('a row refers to it'), { code: '23503' });
  const resources = test.app.get(ResourceService, { strict: false });
  jest.spyOn(resources, 'destroy').mockRejectedValueOnce(conflict);
  const at = [used, free].map(({ id }) => `job_template.${id}`).join(',');
  const { status, text } = await send('/selection/', { action: 'delete', at, back: '/x' });
  expect(status).toBe(200);
  expect(wordsOf(text)).toContain('Deleted 1 of 2 objects');
  expect(await exists(free)).toBe(false);
});

it('a selection of runs is canceled', async () => {
  const template = await own('With runs');
  const [active, ended] = [await runOf(template, 'pending'), await runOf(template, 'failed')];
  const at = [active, ended].map(({ id }) => `job.${id}`);
  const { text } = await send('/selection/', { action: 'cancel', at: at.join(',') });
  expect(wordsOf(text)).toContain('Canceled 1 of 2 runs');
  const { body } = await test.as.superuser.get(`jobs/${active.id}/`);
  expect(body).toMatchObject({ status: 'canceled' });
});

it.each([
  ['an unknown action', { action: 'launch', at: 'job.1' }],
  ['an unknown kind', { action: 'delete', at: 'secret.1' }],
  [
    'more than a page has',
    { action: 'delete', at: Array.from({ length: 201 }, (_one, id) => `job.${id}`).join(',') },
  ],
])('a selection refuses %s', async (_what, values) => {
  expect((await send('/selection/', values)).status).toBe(400);
});

it('a selection refuses actions that the API does not have, to superusers too', async () => {
  const asSuperuser = await browserForm(test, test.as.users.superuser);
  const template = await own('Numbered alike');
  const run = await runOf(template, 'pending');
  const project = await test.make.project({ id: run.id, status: 'running' });
  const { body } = await test.as.superuser.get('activity_stream/?order_by=-id&page_size=1');
  const entry = body.results[0] as Row;
  const role = (await test.as.superuser.get('roles/?page_size=1')).body.results[0] as Row;
  for (const values of [
    { action: 'delete', at: `activity_stream.${entry.id}` },
    { action: 'delete', at: `role.${role.id}` },
    { action: 'cancel', at: `project.${project.id}` },
  ]) {
    expect([values, (await asSuperuser('/selection/', values)).status]).toEqual([values, 400]);
  }
  await test.as.superuser.get(`activity_stream/${entry.id}/`).expect(200);
  await test.as.superuser.get(`roles/${role.id}/`).expect(200);
  const { body: shown } = await test.as.superuser.get(`jobs/${run.id}/`).expect(200);
  expect(shown).toMatchObject({ status: 'pending' });
});

it('each row offers the permitted actions, and shows the last runs', async () => {
  const template = await own('Row of mine');
  const failed = await runOf(template, 'failed');
  const active = await runOf(template, 'pending');
  const templates = await htmlOf(test.as.orgAdmin, 'job_templates/?name=Row of mine');
  expect(wordsOf(templates)).toEqual(
    expect.arrayContaining(['Launch Row of mine', 'Copy Row of mine', `#${failed.id} failed`]),
  );
  const runs = await htmlOf(test.as.orgAdmin, 'jobs/');
  expect(runs).toContain(`action="/api/v2/jobs/${failed.id}/relaunch/"`);
  expect(runs).toContain(`action="/api/v2/jobs/${active.id}/cancel/"`);
  expect(runs).not.toContain(`action="/api/v2/jobs/${failed.id}/cancel/"`);
  const read = await htmlOf(test.as.auditor, 'job_templates/?name=Row of mine');
  expect(read).not.toMatch(/action="[^"]*launch|name="at"/);
});

it('the list of approvals names their workflows, and offers to delete only decided ones', async () => {
  const [workflow] = await test.database.rows<Row>(sql`
    INSERT INTO unified_jobs (type, name, status) VALUES ('workflow_job', 'Release', 'running')
    RETURNING id`);
  const [pending, decided] = await test.database.rows<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, workflow_job_id)
    SELECT 'workflow_approval', 'Ready?', status, ${workflow!.id}
    FROM unnest(ARRAY['pending', 'successful']) status RETURNING id`);
  const page = await htmlOf(test.as.superuser, 'workflow_approvals/');
  expect(page).toContain(`href="/api/v2/workflow_jobs/${workflow!.id}/"`);
  expect(page).toContain(`value="workflow_approval.${decided!.id}"`);
  expect(page).not.toContain(`value="workflow_approval.${pending!.id}"`);
});

it('the search finds a run by its id and a page by its name', async () => {
  const run = await runOf(await own('Numbered'), 'successful');
  expect(await htmlOf(test.as.orgAdmin, `/search/?q=%23${run.id}`)).toContain(
    `href="/api/v2/jobs/${run.id}/"`,
  );
  expect(wordsOf(await htmlOf(test.as.orgAdmin, '/search/?q=Numbered'))).toContain(`#${run.id}`);
  expect(await htmlOf(test.as.orgAdmin, '/search/?q=schedul')).toContain(
    'href="/api/v2/schedules/"',
  );
  expect(await htmlOf(test.as.orgAdmin, '/search/?q=settings')).not.toContain('found-pages');
});

it('runs are filtered by type, date and launcher', async () => {
  const run = await runOf(await own('Filtered'), 'successful');
  const path = 'unified_jobs/?type=job&created__gte=2020-01-01&created_by__username=superuser';
  const page = await htmlOf(test.as.superuser, `${path}&unified_job_template__name=Filtered`);
  expect(page).toContain(`value="job.${run.id}"`);
  expect(page).toMatch(/<option\s+value="job" selected/);
  expect(page).toContain('name="created__gte" type="date" value="2020-01-01"');
  expect(wordsOf(await htmlOf(test.as.superuser, path.replace('2020', '2999')))).toContain(
    'No results match the filters.',
  );
});
