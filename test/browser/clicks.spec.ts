/**
 * Common tasks of users take a limited number of clicks. Typing and keys are not counted.
 *
 * Budget: 50 s, because it counts the clicks of fourteen journeys in Chromium.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventLoopTime } from '../support/event-loop.js';
import { describePages } from './browser.js';
import { describeJourney, describeJourneyInAllWays } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

/** Executes a run as a worker does. Its only task fails. */
async function fail(id: number, message: string): Promise<void> {
  const transitions = test.app.get(RunTransitions, { strict: false });
  await transitions.move([id], { from: ['pending'], to: 'running' });
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, failed, host_name, play, task,
      stdout, start_line, end_line)
    VALUES (${id}, 1, 'runner_on_failed', ${JSON.stringify({ res: { msg: message } })}, true,
      'web-1', 'Shop', 'Start', 'fatal: [web-1]', 0, 1)`);
  await transitions.move([id], { from: ['running'], to: 'failed' });
}

const lastJob = async ({ id }: Row): Promise<Row> =>
  (await test.database.row<Row>(sql`
    SELECT id, extra_vars FROM unified_jobs WHERE unified_job_template_id = ${id}
    ORDER BY id DESC LIMIT 1`))!;

describeJourney('from the dashboard to the cause of a failure', session, 1, async (walk) => {
  const { page, mark } = walk;
  const template = await test.make.jobTemplate({ name: `Backup ${mark}` });
  await test.as.superuser.post(`job_templates/${template.id}/launch/`).send({}).expect(201);
  await fail((await lastJob(template)).id, 'The disk is full.');
  await page.goto('/');
  await walk.link(String(template.name), page.getByRole('region', { name: 'Recent failures' }));
  await page.locator('.cause').getByText('The disk is full.').waitFor();
  await walk.look('cause');
});

describeJourney('finding the activity of the last hours', session, 1, async (walk) => {
  const { page, mark } = walk;
  const organization = test.home.organization.id;
  const { body: team } = await test.as.superuser
    .post('teams/', { name: `Night ${mark}`, organization })
    .expect(201);
  const url = `teams/${team.id}/`;
  await test.as.superuser.patch(url, { description: 'Who is on call' }).expect(200);
  const { id: role } = (await test.as.superuser.get(`${url}object_roles/?role_field=member_role`))
    .body.results[0];
  const { orgMember } = test.as.users;
  await test.as.superuser.post(`users/${orgMember.id}/roles/`, { id: role }).expect(204);
  await walk.open('Activity');
  const rows = page.locator('tbody').getByRole('row');
  // Scripts show times in the zone of the browser.
  const time = walk.hasScripts ? / \d\d:\d\d, .+$/ : / \d{4}-\d\d-\d\d .+$/;
  const messageOf = async (number: number): Promise<string> =>
    (await rows.nth(number).innerText()).replace(/\s+/g, ' ').replace(time, '');
  expect([await messageOf(0), await messageOf(1), await messageOf(2)]).toEqual([
    `superuser granted user orgMember the role Member of team Night ${mark}`,
    `superuser changed team Night ${mark}: description`,
    `superuser created team Night ${mark}`,
  ]);
  await walk.look('activity');
});

// Represents the pages of runs.
describeJourneyInAllWays('launching, watching and finding the cause', session, 3, async (walk) => {
  const { page, mark } = walk;
  const template = await test.make.jobTemplate({ name: `Deploy ${mark}` });
  await walk.open('Templates');
  await walk.link(String(template.name));
  await walk.button('Launch');
  await page.getByText('The run is pending.').waitFor();
  await walk.look('pending');
  await fail((await lastJob(template)).id, 'The shop did not answer.');
  if (!walk.hasScripts) await page.reload();
  await page.locator('.cause').getByText('The shop did not answer.').waitFor();
  expect(await page.getByText('Done.', { exact: true }).count()).toBe(0);
});

describeJourney('a survey of two questions and its answers', session, 8, async (walk) => {
  const { page } = walk;
  const template = await test.make.jobTemplate({ name: `Asking ${walk.mark}` });
  await walk.open('Templates');
  await walk.link(String(template.name));
  await walk.link('Add survey');
  const first = page.getByRole('group', { name: 'Question 1', exact: true });
  await first.getByLabel('Question', { exact: true }).fill('Which region?');
  await first.getByLabel('Variable').fill('region');
  await first.getByLabel('Type').selectOption('multiplechoice');
  await first.getByLabel('Choices').fill('north\nsouth');
  await first.getByLabel('Default').fill('south');
  await walk.click(page.getByText('Add another question').first());
  const second = page.getByRole('group', { name: 'Question 2', exact: true });
  await second.getByLabel('Question', { exact: true }).fill('How many?');
  await second.getByLabel('Variable').fill('count');
  await second.getByLabel('Type').selectOption('integer');
  await second.getByLabel('Default').fill('3');
  await walk.look('survey');
  await walk.button(/survey$/i, page.locator('#form-post'));
  await page.waitForURL(`**/job_templates/${template.id}/`);
  await walk.button('Enable survey');
  await walk.link('Launch…');
  expect(await page.getByLabel('Which region?').inputValue()).toBe('south');
  await page.getByLabel('How many?').fill('7');
  await walk.look('survey-asked');
  await walk.button('Launch', page.locator('#form-post'));
  await page.getByText('Launched.').waitFor();
  const answers: unknown = JSON.parse(String((await lastJob(template)).extra_vars));
  expect(answers).toEqual({ region: 'south', count: 7 });
});

describeJourney('finding one object among hundreds by typing', session, 1, async (walk) => {
  const { page, mark } = walk;
  const inventory = await test.make.inventory();
  await test.make.hosts(inventory, 300, mark);
  await page.getByLabel('Find anything').fill(`${mark}-0000217`);
  await page.getByLabel('Find anything').press('Enter');
  await walk.look('found');
  await walk.link(`${mark}-0000217`);
  await page.waitForURL(/\/hosts\/\d+\/$/);
});

// Represents the pages of lists.
describeJourneyInAllWays('finding one run among hundreds by filters', session, 6, async (walk) => {
  const { page, mark } = walk;
  const { id } = await test.make.jobTemplate();
  await test.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
      launch_type, started, finished, event_processing_finished)
    SELECT 'job', ${`Among ${mark}`} || ' ' || n, CASE WHEN n = 217 THEN 'failed' ELSE 'successful' END,
      n = 217, ${id}, ${id}, 'manual', now(), now(), TRUE
    FROM generate_series(1, 300) AS n`);
  await walk.open('Jobs');
  await page.getByLabel('Search').fill(`Among ${mark}`);
  // One click opens the list, one chooses from it.
  walk.clicks += 2;
  await page.getByLabel('Status').selectOption('Failed');
  await walk.look('filters');
  await walk.button('Apply');
  expect(await page.getByRole('rowheader').allInnerTexts()).toEqual([`Among ${mark} 217`]);
  await walk.look('filtered');
  await walk.link(`Among ${mark} 217`);
  await page.waitForURL(/\/jobs\/\d+\/$/);
});

describeJourney('opening the users', session, 1, async (walk) => {
  await walk.open('Users');
  await walk.page.getByRole('rowheader', { name: 'orgMember', exact: true }).waitFor();
});

describeJourney('changing and resetting a setting on its page', session, 4, async (walk) => {
  const { page } = walk;
  await walk.open('Settings');
  await walk.link('Bulk', page.locator('main'));
  const at = page.url();
  await page.getByLabel('Bulk job max launch').fill('120');
  await walk.button('Save');
  await page.getByText('Saved.').waitFor();
  expect(page.url().split('#')[0]).toBe(at);
  const max = async (): Promise<unknown> => {
    const { body } = await test.as.superuser.get('settings/bulk/').expect(200);
    return body.BULK_JOB_MAX_LAUNCH;
  };
  expect(await max()).toBe(120);
  await walk.button('Reset Bulk');
  await page.waitForURL(/\/settings\/$/);
  expect(await max()).toBe(100);
});

describePages('the editor of surveys', session, (open) => {
  const QUESTIONS = [
    { question_name: 'Size <b>', variable: 'size', type: 'text', default: '<i>', note: 'kept' },
    { question_name: 'Key', variable: 'key', type: 'password', default: 'hush' },
  ];

  const surveyOf = async ({ id }: Row): Promise<Record<string, unknown>[]> =>
    (await test.as.superuser.get(`job_templates/${id}/survey_spec/`).expect(200)).body.spec;

  it('keeps other fields, removes questions, and shows errors', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    await test.as.superuser
      .post(`job_templates/${template.id}/survey_spec/`)
      .send({ name: '', description: '', spec: QUESTIONS })
      .expect(200);
    await page.goto(`/api/v2/job_templates/${template.id}/survey_spec/#form-post`);
    const save = page
      .locator('#form-post')
      .getByRole('button', { name: /survey$/i })
      .first();
    const first = page.getByRole('group', { name: 'Question 1', exact: true });
    expect(await first.getByLabel('Default').inputValue()).toBe('<i>');
    await first.getByLabel('Variable').fill('not a name');
    await save.click();
    await page.getByText("'not a name' in survey question 1 is not a valid name").first().waitFor();
    expect(await first.getByLabel('Question', { exact: true }).inputValue()).toBe('Size <b>');
    await first.getByLabel('Variable').fill('length');
    await save.click();
    await page.waitForURL(`**/job_templates/${template.id}/`);
    expect(await surveyOf(template)).toMatchObject([
      { variable: 'length', question_name: 'Size <b>', note: 'kept' },
      { variable: 'key', default: '$encrypted$' },
    ]);
    await page.goto(`/api/v2/job_templates/${template.id}/survey_spec/#form-post`);
    await page.getByLabel('Remove this question').first().check();
    await save.click();
    await page.waitForURL(`**/job_templates/${template.id}/`);
    expect(await surveyOf(template)).toMatchObject([{ variable: 'key' }]);
  });
});

describe('a page of 200 rows', () => {
  beforeAll(async () => {
    const inventory = await test.make.inventory({ name: 'Long' });
    await test.make.hosts(inventory, 200, 'row');
    const { id } = await test.make.jobTemplate({ name: 'Often run' });
    await test.database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
        inventory_id, launch_type, elapsed, started, finished, event_processing_finished)
      SELECT 'job', 'row-' || n, 'successful', ${id}, ${id}, ${inventory.id}, 'manual', n,
        now(), now(), TRUE
      FROM generate_series(1, 200) AS n`);
    await test.database.execute(sql`
      INSERT INTO activity_stream (operation, object1, object1_id, actor_id, changes)
      SELECT 'update', 'job_template', ${id}, ${test.as.users.superuser.id}, '{"row": [1, 2]}'
      FROM generate_series(1, 200)`);
  });

  it.each([
    ['hosts', 'hosts/?order_by=id'],
    ['jobs', 'jobs/?order_by=-id'],
    ['runs of all kinds', 'unified_jobs/?order_by=-id'],
    ['activity', 'activity_stream/?order_by=-id'],
  ])('of %s is rendered by the server in 100 ms', async (_name, path) => {
    let quickest = Infinity;
    // The first responses are slower, so the fastest of several counts.
    for (let turn = 0; turn < 20 && quickest >= 100; turn += 1) {
      const time = await eventLoopTime(async () => {
        const { text } = await test.as.superuser
          .get(`${path}&page_size=200`)
          .set('Accept', 'text/html')
          .expect(200);
        expect(text.match(/<th scope="row">/g)).toHaveLength(200);
      });
      quickest = Math.min(quickest, time);
    }
    expect(quickest).toBeLessThan(100);
  });
});
