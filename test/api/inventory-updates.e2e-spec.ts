/** Updates of inventories stay with what they came from (docs/contract/inventory-sources.md#updates). */
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('go with their inventory, and keep it while they run', async () => {
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

it('tell what they are on OPTIONS', async () => {
  const { body } = await test.as.superuser.options('inventory_sources/').expect(200);
  expect(body.actions.POST.source.choices).toContainEqual(['scm', 'scm']);
});

it('have events of their own type, about no host', async () => {
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
