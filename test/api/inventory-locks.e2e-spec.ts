/**
 * Order of locks: an inventory before its hosts and groups, as imports and bulk requests lock them. With another
 * order, a request and an import wait for each other until PostgreSQL ends one of them.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { JobHostSummariesRepository } from '../../src/runs/events/job-host-summaries.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';

let test: TestApp;
let inventory: Row;
let host: Row;
let group: Row;
let child: Row;
beforeAll(async () => {
  test = await boot();
});
beforeEach(async () => {
  inventory = await test.make.inventory({ organization: test.home.organization.id });
  host = await test.make.host(inventory);
  group = await test.make.group(inventory);
  child = await test.make.group(inventory);
  await test.as.superuser.post(`groups/${group.id}/hosts/`, { id: host.id }).expect(204);
});
afterAll(() => test.close());

/** Holds the inventory, starts `work`, and then locks all its hosts and groups. */
const duringImport = (work: () => Promise<unknown>): Promise<void> =>
  interleave<unknown>(test.database, [
    () =>
      test.database.execute(
        sql`SELECT 1 FROM inventories WHERE id = ${inventory.id} FOR NO KEY UPDATE`,
      ),
    work,
    async () => {
      await test.database.execute(
        sql`SELECT 1 FROM hosts WHERE inventory_id = ${inventory.id} FOR UPDATE NOWAIT`,
      );
      await test.database.execute(
        sql`SELECT 1 FROM groups WHERE inventory_id = ${inventory.id} FOR UPDATE NOWAIT`,
      );
    },
  ]);

it.each<
  [name: string, method: 'delete' | 'patch' | 'post', path: () => string, body: () => object]
>([
  ['a new name of a host', 'patch', () => `hosts/${host.id}/`, () => ({ name: 'renamed' })],
  ['a change of variables', 'patch', () => `hosts/${host.id}/variable_data/`, () => ({ a: 1 })],
  ['the deletion of a host', 'delete', () => `hosts/${host.id}/`, () => ({})],
  ['a change of a group', 'patch', () => `groups/${group.id}/`, () => ({ description: 'changed' })],
  ['the deletion of a group', 'delete', () => `groups/${group.id}/`, () => ({})],
  ['adding a host to a group', 'post', () => `groups/${child.id}/hosts/`, () => ({ id: host.id })],
  [
    'removing a host from a group',
    'post',
    () => `groups/${group.id}/hosts/`,
    () => ({ id: host.id, disassociate: true }),
  ],
  ['adding a group to a host', 'post', () => `hosts/${host.id}/groups/`, () => ({ id: child.id })],
  ['adding a subgroup', 'post', () => `groups/${group.id}/children/`, () => ({ id: child.id })],
  ['the deletion of many hosts', 'post', () => 'bulk/host_delete/', () => ({ hosts: [host.id] })],
])('%s locks the inventory first', async (_name, method, path, body) => {
  let status = 0;
  await duringImport(async () => {
    ({ status } = await test.as.orgAdmin[method](path(), body()));
  });
  expect([200, 201, 204]).toContain(status);
});

it('the end of a job locks the inventory before the hosts that it ran on', async () => {
  const { app, database } = test;
  const summaries = app.get(JobHostSummariesRepository, { strict: false });
  const job = await database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, inventory_id)
    VALUES ('job', 'Runs', 'running', ${inventory.id}) RETURNING id`);
  const tasks = { changed: 0, dark: 0, ok: 0, processed: 1, skipped: 0, ignored: 0, rescued: 0 };
  const counts = new Map([[String(host.name), { ...tasks, failures: 1, failed: true }]]);
  const hosts = new Map([[String(host.name), host.id]]);
  await duringImport(() =>
    database.transaction(() => summaries.store(job!.id, counts, { hosts, originals: null })),
  );
  const { body } = await test.as.orgAdmin.get(`inventories/${inventory.id}/`).expect(200);
  expect(body.hosts_with_active_failures).toBe(1);
});
