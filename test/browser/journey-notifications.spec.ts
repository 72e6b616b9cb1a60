import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { describeJourney, describeJourneyBothWays } from './walk.js';

let test: TestApp;
let worker: INestApplicationContext;
let sink: HttpSink;

beforeAll(async () => {
  test = await boot();
  worker = await bootWorker(test);
  sink = await HttpSink.start();
});
afterAll(async () => {
  await worker.close();
  await sink.close();
  await test.close();
});

const session = () => ({ test, user: test.as.users.orgAdmin });

async function template(name: string): Promise<Row> {
  const organization = test.home.organization.id;
  const project = await test.make.project({ organization });
  const inventory = await test.make.inventory({ organization });
  return test.make.jobTemplate({ name, project: project.id, inventory: inventory.id });
}

describeJourney('notifying a chat of failures', session, 5, async (walk) => {
  const { page, mark } = walk;
  const { id } = await template(`Told ${mark}`);
  await walk.open('Templates');
  await walk.link(`Told ${mark}`);
  await walk.link('Mattermost', page.getByRole('row', { name: 'When a run fails' }));
  await page.getByLabel('Name *').fill(`Room ${mark}`);
  await page.getByLabel('Target URL').fill(`${sink.url}/hooks/room`);
  await walk.look('notification-form');
  await walk.button('Create notification template');
  await page.getByText('No notifications sent yet.').waitFor();
  await walk.button('Send a test');
  await page.getByText('Successful', { exact: true }).waitFor();
  await page.locator('#sent').getByText('One attempt').waitFor();
  await walk.look('notification-tested');
  expect(sink.requests.some(({ path }) => path === '/hooks/room')).toBe(true);
  const { body } = await test.as.superuser
    .get(`job_templates/${id}/notification_templates_error/`)
    .expect(200);
  expect(body.results.map((one: Row) => one.name)).toEqual([`Room ${mark}`]);
});

describeJourney('resending a failed notification', session, 3, async (walk) => {
  const { page, mark } = walk;
  const name = `Lost ${mark}`;
  sink.reply({ status: 400, body: 'no such room' });
  const made = await test.make.notificationTemplate({
    name,
    organization: test.home.organization.id,
    notification_type: 'chat_b',
    notification_configuration: { url: `${sink.url}/hooks/lost` },
  });
  await test.as.superuser.post(`notification_templates/${made.id}/test/`, {}).expect(200);
  await walk.open('Notifications');
  await walk.link(name);
  await page.getByText('Failed', { exact: true }).first().waitFor();
  expect(await page.locator('#sent').textContent()).toContain('no such room');
  await walk.look('notification-failed');
  await walk.button(/Resend/);
  await page.getByText('Successful', { exact: true }).waitFor();
});

describeJourneyBothWays('adding an existing notification template', session, 3, async (walk) => {
  const { page, mark } = walk;
  const { id } = await template(`Joined ${mark}`);
  const name = `Everybody ${mark}`;
  const { id: other } = await test.make.notificationTemplate({
    name,
    organization: test.home.organization.id,
  });
  const path = `job_templates/${id}/notification_templates_success/`;
  await page.goto(`/api/v2/job_templates/${id}/`);
  const row = page.getByRole('row', { name: 'When a run succeeds' });
  await walk.choose(row.locator('#attach-notification_templates_success'), name);
  await walk.button('Add notification', row);
  await row.getByRole('link', { name, exact: true }).waitFor();
  await walk.look('notifications-attached');
  const { body } = await test.as.superuser.get(path).expect(200);
  expect(body.results.map((one: Row) => one.id)).toEqual([other]);
  await row.getByRole('button', { name: /^Remove/ }).click();
  await row.getByText('No notifications').waitFor();
});
