/** Updates of inventories stay with what they came from (docs/contract/inventory-sources.md#updates). */
import { boot, type TestApp } from '../support/boot.js';

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
