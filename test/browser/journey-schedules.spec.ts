import type { Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, describePagesBothWays } from './browser.js';
import { describeJourneyInAllWays } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

async function template(name: string): Promise<Row> {
  const organization = test.home.organization.id;
  const project = await test.make.project({ organization });
  const inventory = await test.make.inventory({ organization });
  return test.make.jobTemplate({ name, project: project.id, inventory: inventory.id });
}

async function schedulesOf({ id }: Row): Promise<Row[]> {
  const { body } = await test.as.superuser.get(`job_templates/${id}/schedules/`).expect(200);
  return body.results as Row[];
}

/** Names and days of months on the page. */
const starts = (page: Page): Promise<string[]> => page.locator('.starts time').allTextContents();

// Represents the pages of forms.
describeJourneyInAllWays('creating a nightly schedule', session, 4, async (walk) => {
  const { page, mark } = walk;
  const made = await template(`Nightly ${mark}`);
  await walk.open('Templates');
  await walk.link(`Nightly ${mark}`);
  await walk.link('New schedule');
  await page.getByLabel('Name *').fill('Every night');
  await page.locator('#post-start_time').fill('03:30');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await walk.look('schedule-form');
  await walk.button('Create schedule');
  await page.getByText('Created.', { exact: true }).waitFor();
  const [schedule] = await schedulesOf(made);
  expect(schedule).toMatchObject({ name: 'Every night', timezone: 'Europe/Berlin', enabled: true });
  expect(String(schedule?.rrule)).toMatch(
    /^DTSTART;TZID=Europe\/Berlin:\d{8}T033000 RRULE:FREQ=DAILY;INTERVAL=1$/,
  );
  await page.goto(`/api/v2/job_templates/${made.id}/`);
  await page.getByText('every day at 03:30, Europe/Berlin').waitFor();
  await walk.look('schedules-of-template');
});

async function begin(page: Page): Promise<Row> {
  const made = await template(`Scheduled ${Date.now()}`);
  await page.goto(`/api/v2/job_templates/${made.id}/schedules/?_form=post`);
  return made;
}

// Only scripts show the occurrences without a click, and preselect the time zone of the user.
describePagesBothWays('forms of schedules', session, (open) => {
  it('preview the next occurrences without saving', async () => {
    const { page } = open;
    const made = await begin(page);
    expect(await starts(page)).toHaveLength(5);
    await page.getByLabel('Name *').fill('Fridays');
    await page.getByLabel('Time zone').fill('America/New_York');
    await page.locator('#post-unit').selectOption('week');
    await page.getByLabel('Friday').check();
    await page.getByRole('button', { name: 'Preview' }).click();
    const words = page.getByText('every week on Friday at 02:00, America/New_York');
    await words.waitFor({ timeout: 20_000 }).catch(async (error: unknown) => {
      throw new Error(`On ${page.url()}:\n${await page.locator('main').innerText()}`, {
        cause: error,
      });
    });
    const shown = await starts(page);
    expect(shown).toHaveLength(5);
    for (const one of shown) expect(one).toMatch(/^Fri \d{4}-\d\d-\d\d 02:00$/);
    expect(await page.getByLabel('Name *').inputValue()).toBe('Fridays');
    expect(await schedulesOf(made)).toEqual([]);
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Created.', { exact: true }).waitFor();
    expect(String((await schedulesOf(made))[0]?.rrule)).toContain(
      'FREQ=WEEKLY;INTERVAL=1;BYDAY=FR',
    );
  });
});

describePages('schedules', session, (open) => {
  const scheduled = async (rrule: string): Promise<Row> => {
    const made = await template(`Ruled ${Date.now()}`);
    const { body } = await test.as.superuser
      .post(`job_templates/${made.id}/schedules/`, { name: 'Kept', rrule })
      .expect(201);
    return body as Row;
  };

  it('show an error beside its field', async () => {
    const { page } = open;
    await begin(page);
    await page.getByLabel('Name *').fill('Nowhere');
    await page.getByLabel('Time zone').fill('Nowhere/Land');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await page.locator('#post-zone-errors').textContent()).toContain('Unknown time zone');
    await page.getByLabel('Time zone').fill('US/Eastern');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Created.', { exact: true }).waitFor();
  });

  it('are changed in the same form in which they were created', async () => {
    const { page } = open;
    const made = await scheduled(
      'DTSTART;TZID=Asia/Tokyo:20300101T061500 RRULE:FREQ=DAILY;INTERVAL=2',
    );
    await page.goto(`/api/v2/schedules/${made.id}/?_form=patch`);
    expect(await page.locator('#patch-every').inputValue()).toBe('2');
    expect(await page.locator('#patch-start_time').inputValue()).toBe('06:15');
    expect(await page.locator('#patch-zone').inputValue()).toBe('Asia/Tokyo');
    await page.locator('#patch-start_time').fill('07:45');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(`schedules/${made.id}/`).expect(200);
    expect(body.rrule).toBe('DTSTART;TZID=Asia/Tokyo:20300101T074500 RRULE:FREQ=DAILY;INTERVAL=2');
  });

  it('with advanced rules are shown as text, and stay unchanged', async () => {
    const { page } = open;
    const rrule =
      'DTSTART;TZID=Asia/Tokyo:20300101T061500 RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=3,9;BYMONTHDAY=1,15';
    const made = await scheduled(rrule);
    await page.goto(`/api/v2/schedules/${made.id}/?_form=patch`);
    expect(await page.locator('#patch-unit').inputValue()).toBe('text');
    expect(await page.locator('#patch-rrule').inputValue()).toBe(rrule);
    expect(await starts(page)).toHaveLength(5);
    await page.getByLabel('Name *').fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(`schedules/${made.id}/`).expect(200);
    expect(body).toMatchObject({ name: 'Renamed', rrule });
    await page.goto(`/api/v2/schedules/${made.id}/?_form=patch`);
    expect(await page.locator('#patch-start_time').inputValue()).toBe('');
    expect(await page.locator('#patch-zone').inputValue()).toBe('');
    await page.locator('#patch-start_time').fill('07:45');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('#patch-start_time-errors').getByText('The rule below decides').waitFor();
  });

  it('with a rule that is written in place of their parts name the parts to clear', async () => {
    const { page } = open;
    const made = await scheduled('DTSTART:20300101T061500Z RRULE:FREQ=DAILY;INTERVAL=2');
    const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=3,9;BYMONTHDAY=1';
    await page.goto(`/api/v2/schedules/${made.id}/?_form=patch`);
    await page.locator('#patch-unit').selectOption('text');
    await page.locator('summary', { hasText: 'The rule as text' }).click();
    await page.locator('#patch-rrule').fill(rrule);
    await page.getByRole('button', { name: 'Save' }).click();
    for (const part of ['every', 'start_time', 'start_date']) {
      await page.locator(`#patch-${part}-errors`).getByText('Clear the field').waitFor();
      await page.locator(`#patch-${part}`).fill('');
    }
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await test.as.superuser.get(`schedules/${made.id}/`).expect(200);
    expect(body.rrule).toBe(rrule);
  });

  it('are enabled and disabled in their list', async () => {
    const { page } = open;
    const made = await scheduled('DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1');
    await page.goto(`/api/v2/job_templates/${made.unified_job_template}/`);
    await page.getByRole('button', { name: /^Disable/ }).click();
    await page.locator('#schedules').getByText('disabled').waitFor();
    await page.getByRole('button', { name: /^Enable/ }).click();
    await page.locator('#schedules').getByText('next').waitFor();
    const { body } = await test.as.superuser.get(`schedules/${made.id}/`).expect(200);
    expect(body.enabled).toBe(true);
  });
});
