import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describeJourney } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

async function updated(inventory: Row, name: string): Promise<Row> {
  const source = await test.make.row('inventory_source', {
    name,
    inventory: inventory.id,
    source: 'ec2',
  });
  const update = await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, source, organization_id,
      unified_job_template_id, inventory_source_id, inventory_id, finished,
      event_processing_finished)
    VALUES ('inventory_update', ${name}, 'failed', true, 'ec2', ${test.home.organization.id},
      ${source.id}, ${source.id}, ${inventory.id}, now(), true) RETURNING id`);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET last_job_id = ${update!.id}, last_job_run = now(),
      last_job_failed = true, status = 'failed' WHERE id = ${source.id}`);
  return source;
}

describeJourney('repeating an inventory update after a failure', session, 4, async (walk) => {
  const { page, mark } = walk;
  const inventory = await test.make.inventory({
    name: `Cloud ${mark}`,
    organization: test.home.organization.id,
  });
  const { id } = await updated(inventory, `Machines ${mark}`);
  await walk.open('Inventories');
  await walk.link(`Cloud ${mark}`);
  const card = page.locator('#sources');
  await card.getByText('Failed').waitFor();
  await card.getByRole('link', { name: 'Output' }).waitFor();
  await walk.look('inventory-with-source');
  await walk.link(`Machines ${mark}`, card);
  await page.locator('small', { hasText: 'Last update' }).waitFor();
  await walk.look('inventory-source');
  await walk.button('Update now');
  await page.getByText('Launched.').waitFor();
  const { body } = await test.as.superuser
    .get(`inventory_sources/${id}/inventory_updates/?order_by=-id`)
    .expect(200);
  expect(body.count).toBe(2);
});

describeJourney('creating an inventory source', session, 2, async (walk) => {
  await walk.page.goto('/api/v2/inventory_sources/');
  await walk.link('Add');
  const kinds = await walk.page.locator('ul.choices a').allTextContents();
  expect(kinds).toContain('Amazon EC2');
  // It comes with its inventory.
  expect(kinds.join()).not.toMatch(/constructed/i);
});
