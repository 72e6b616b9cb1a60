/** Inventory updates: deletion, launches, output and links (docs/contract/inventory-sources.md#updates). */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('updates are deleted with their inventory, and prevent its deletion while they run', async () => {
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', { name: 'S', inventory: inventory.id, source: 'ec2' })
    .expect(201);
  const { body: update } = await test.as.superuser
    .post(`inventory_sources/${source.id}/update/`, {})
    .expect(202);
  await test.as.superuser.delete(`inventories/${inventory.id}/`).expect(409);
  await test.as.superuser.post(`inventory_updates/${update.id}/cancel/`, {}).expect(202);
  await test.as.superuser.delete(`inventories/${inventory.id}/`).expect(202);
  await test.as.superuser.get(`inventory_sources/${source.id}/`).expect(404);
});

it('updates are started by schedules, workflow nodes and bulk launches, without prompts', async () => {
  const { as, make, home } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const source = await make.row('inventory_source', {
    ...{ name: 'Scheduled', inventory: inventory.id, source: 'ec2' },
  });
  const path = `inventory_sources/${source.id}/`;
  const daily = {
    ...{ name: 'Daily', rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1' },
  };
  const refused = { limit: ['Field is not allowed on launch.'] };
  const schedules = `${path}schedules/`;
  const { body } = await as.superuser.post(schedules, { ...daily, limit: 'web' }).expect(400);
  expect(body).toEqual(refused);
  const variables = { ...daily, extra_data: { a: 1 } };
  expect((await as.superuser.post(schedules, variables).expect(400)).body).toEqual({
    extra_data: ['Field is not allowed on launch.'],
  });
  await as.superuser.post(schedules, daily).expect(201);
  const { body: shown } = await as.superuser.get(path).expect(200);
  expect(shown.next_job_run).toMatch(/^2030-01-01T00:00:00/);
  const { body: flow } = await as.superuser
    .post('workflow_job_templates/', { name: 'Flow', organization: home.organization.id })
    .expect(201);
  const nodes = `workflow_job_templates/${flow.id}/workflow_nodes/`;
  const node = { unified_job_template: source.id };
  const { body: errors } = await as.superuser.post(nodes, { ...node, limit: 'web' }).expect(400);
  expect(errors).toEqual(refused);
  await as.superuser.post(nodes, node).expect(201);
  const updater = await make.user();
  await make.grant('inventory', inventory, 'update_role', { user: updater });
  const reader = await make.user();
  await make.grant('inventory', inventory, 'read_role', { user: reader });
  const launch = { name: 'Bulk', organization: home.organization.id, jobs: [node] };
  for (const user of [updater, reader]) {
    await make.grant('organization', home.organization, 'member_role', { user });
  }
  await (await as.asUser(updater)).post('bulk/job_launch/', launch).expect(201);
  await (await as.asUser(reader)).post('bulk/job_launch/', launch).expect(400);
});

it('the output is available complete, as lines and in every format', async () => {
  const { as, make, home, database } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const source = await make.row('inventory_source', {
    ...{ name: 'Shown', inventory: inventory.id, source: 'ec2' },
  });
  const { body: run } = await as.superuser
    .post(`inventory_sources/${source.id}/update/`, {})
    .expect(202);
  const path = `inventory_updates/${run.id}/`;
  await as.superuser.delete(path).expect(403);
  const long = 'x'.repeat(2000);
  await database.execute(sql`
    INSERT INTO job_events (job_id, uuid, counter, event, stdout, start_line, end_line)
    VALUES (${run.id}, 'b', 2, 'verbose', ${long}, 1, 2),
      (${run.id}, 'a', 1, 'verbose', 'first', 0, 1)`);
  await database.execute(sql`
    UPDATE unified_jobs SET status = 'successful', emitted_events = 2,
      finished = now() - interval '2 minutes' WHERE id = ${run.id}`);
  const events = async (query: string): Promise<[number, number][]> => {
    const { body } = await as.superuser.get(`${path}events/${query}`).expect(200);
    return body.results.map((row: { counter: number; stdout: string }) => [
      row.counter,
      row.stdout.length,
    ]);
  };
  const [first, cut] = await events('');
  expect([first, cut?.[0]]).toEqual([[1, 5], 2]);
  expect(cut?.[1]).toBeLessThan(1100);
  expect(await events('?no_truncate=1')).toEqual([
    [1, 5],
    [2, 2000],
  ]);
  expect(await events('?limit=1')).toEqual([[1, 5]]);
  expect(await events('?search=first')).toEqual([[1, 5]]);
  for (const format of ['txt', 'ansi', 'json', 'html', 'txt_download', 'ansi_download']) {
    const { text } = await as.superuser.get(`${path}stdout/?format=${format}`).expect(200);
    expect([format, text.includes('first'), text.includes(long)]).toEqual([format, true, true]);
  }
  await as.superuser.delete(path).expect(204);
  await as.superuser.get(path).expect(404);
});

it('events have their own type, and no host', async () => {
  const update = await new Samples(test).of('inventory_update_event');
  const id = Number(update.id);
  const list = await test.as.superuser
    .get(`inventory_updates/${String(update.job_id)}/events/`)
    .expect(200);
  expect(list.body.results).toHaveLength(1);
  const { body } = await test.as.superuser.get(`inventory_update_events/${id}/`).expect(200);
  expect(body).toMatchObject({
    ...{ id, type: 'inventory_update_event', event: 'verbose', counter: 1, stdout: 'ok' },
    related: { inventory_update: `/api/v2/inventory_updates/${String(update.job_id)}/` },
  });
  expect(list.body.results[0]).toEqual(expect.objectContaining({ type: body.type, url: body.url }));
  for (const name of ['host', 'host_name', 'play', 'job']) expect(body).not.toHaveProperty(name);
  await test.as.nobody.get(`inventory_update_events/${id}/`).expect(403);
});
