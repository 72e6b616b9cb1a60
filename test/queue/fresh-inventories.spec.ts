/**
 * Name look-ups are fast in an inventory that was just filled, which PostgreSQL still takes for an empty one.
 */
import { BulkHostCreate } from '../../src/bulk/bulk-host-create.service.js';
import type { Actor } from '../../src/common/access.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { InventoryImport } from '../../src/inventories/import/inventory-import.service.js';
import { readDelivery } from '../../src/inventories/import/delivery-reader.js';
import { boot, type TestApp } from '../support/boot.js';

const FILLED = 5000;
const GIVEN = 100;
/** Number of older inventories, so that a scan of the table costs more than look-ups in the index. */
const OLDER = 3;
const superuser: Actor = { id: 1, username: 'root', isSuperuser: true, isSystemAuditor: false };

let test: TestApp;
// Hosts of other tests would be read too.
beforeEach(async () => {
  test = await boot();
});
afterEach(() => test.close());

const fill = (inventory: Row): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO hosts (inventory_id, name)
    SELECT ${inventory.id}::int, 'old-' || n FROM generate_series(1, ${FILLED}) n`);

/** Creates an inventory whose hosts are newer than the statistics of PostgreSQL. */
async function freshInventory(): Promise<Row> {
  const organization = test.home.organization.id;
  for (let n = 0; n < OLDER; n += 1) await fill(await test.make.inventory({ organization }));
  const inventory = await test.make.inventory({ organization });
  await test.database.execute(sql`ANALYZE hosts, groups`);
  await fill(inventory);
  return inventory;
}

/** Returns the number of host rows that `work` reads. */
const rowsRead = (work: () => Promise<unknown>): Promise<number> =>
  test.database.transaction(async () => {
    await work();
    const row = await test.database.row<{ rows: number }>(sql`
      SELECT (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int AS rows
      FROM pg_stat_xact_user_tables WHERE relname = 'hosts'`);
    return row?.rows ?? NaN;
  });

it.each(['error', 'update'] as const)(
  'the check of names uses the index, with on_conflict=%s',
  async (onConflict) => {
    const inventory = await freshInventory();
    const service = test.app.get(BulkHostCreate, { strict: false });
    const hosts = Array.from({ length: GIVEN }, (_none, index) => ({
      ...{ name: `new-${index}`, groups: ['fleet'] },
    }));
    const request = { inventory: inventory.id, on_conflict: onConflict, hosts };
    const read = await rowsRead(() => service.create(request, superuser, false));
    // The inventory is read at most five times. A scan of it per name would read half a million rows.
    expect(read).toBeLessThan(10 * FILLED);
  },
);

it('the comparison of an import with existing hosts is linear', async () => {
  const inventory = await freshInventory();
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', { name: 'Fresh', inventory: inventory.id, source: 'ec2' })
    .expect(201);
  const names = Array.from({ length: GIVEN }, (_none, index) => `new-${index}`);
  const delivery = await readDelivery(
    { fleet: { hosts: names }, _meta: { hostvars: {} } },
    { enabled: null, instanceId: ['id'] },
  );
  const place = { sourceId: source.id, inventoryId: inventory.id };
  const options = { overwrite: false, overwriteVars: false, hasInstanceIds: true };
  const context = { report: () => undefined, checkpoint: () => undefined };
  const imports = test.app.get(InventoryImport, { strict: false });
  const read = await rowsRead(() => imports.store(place, delivery, options, context));
  // Existing hosts are read once or twice.
  expect(read).toBeLessThan(4 * FILLED);
});
