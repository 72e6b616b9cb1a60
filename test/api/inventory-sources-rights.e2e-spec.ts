/** Permissions for inventory sources (docs/contract/inventory-sources.md#who-may). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

let counter = 0;
/** Returns the body of a cloud source of an inventory. */
const body = ({ id }: Row, values: object = {}) => ({
  ...{ name: `Source ${(counter += 1)}`, inventory: id, source: 'ec2' },
  ...values,
});
const ownInventory = () => test.make.inventory({ organization: test.home.organization.id });
/** Creates a user with a role on an inventory, or without one. */
async function holderOf(role: string, inventory: Row) {
  const user = await test.make.user();
  if (role !== 'none') await test.make.grant('inventory', inventory, role, { user });
  return { user, as: await test.as.asUser(user) };
}

it('creation, and cancellation and deletion of updates, require admin or update', async () => {
  const own = await ownInventory();
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', body(own))
    .expect(201);
  const update = `inventory_sources/${source.id}/update/`;
  const run = async (as: Pick<typeof test.as.superuser, 'post'>): Promise<string> =>
    `inventory_updates/${(await as.post(update, {}).expect(202)).body.id}/`;
  const expected = {
    none: { create: 403, cancel: 403, remove: 403 },
    read_role: { create: 403, cancel: 403, remove: 403 },
    use_role: { create: 403, cancel: 403, remove: 403 },
    adhoc_role: { create: 403, cancel: 403, remove: 403 },
    update_role: { create: 403, cancel: 403, cancelOwn: 202, remove: 403 },
    admin_role: { create: 201, cancel: 202, cancelOwn: 202, remove: 204 },
  };
  for (const [role, statuses] of Object.entries(expected)) {
    const { as } = await holderOf(role, own);
    const create = (await as.post('inventory_sources/', body(own))).status;
    const theirs = await run(test.as.superuser);
    const cancel = (await as.post(`${theirs}cancel/`, {})).status;
    if (cancel !== 202) await test.as.superuser.post(`${theirs}cancel/`, {}).expect(202);
    const remove = (await as.delete(theirs)).status;
    const found = { create, cancel, remove };
    if ('cancelOwn' in statuses) {
      const cancelOwn = (await as.post(`${await run(as)}cancel/`, {})).status;
      Object.assign(found, { cancelOwn });
    }
    expect({ role, ...found }).toEqual({ role, ...statuses });
  }
});

it('inventory admins change sources, updaters update them, readers read them', async () => {
  const own = await ownInventory();
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', body(own))
    .expect(201);
  const path = `inventory_sources/${source.id}/`;
  const all = `inventories/${own.id}/update_inventory_sources/`;
  /** Statuses of reading the source and its updates, updating it, updating all, changing it, deleting it. */
  const expected = {
    none: [403, 403, 403, 403, 403, 403],
    read_role: [200, 200, 403, 403, 403, 403],
    use_role: [200, 200, 403, 403, 403, 403],
    adhoc_role: [200, 200, 403, 403, 403, 403],
    update_role: [200, 200, 202, 200, 403, 403],
    admin_role: [200, 200, 202, 200, 200, 204],
  };
  const forget = () =>
    test.database.execute(sql`DELETE FROM unified_jobs WHERE type = 'inventory_update'`);
  for (const [role, statuses] of Object.entries(expected)) {
    const { as } = await holderOf(role, own);
    const { body: run } = await test.as.superuser.post(`${path}update/`, {}).expect(202);
    const read = [await as.get(path), await as.get(`inventory_updates/${run.id}/events/`)];
    await forget();
    const started = [await as.post(`${path}update/`, {}), await as.post(all, {})];
    await forget();
    const changed = [await as.patch(path, { description: role }), await as.delete(path)];
    const found = [...read, ...started, ...changed].map(({ status }) => status);
    expect({ role, found }).toEqual({ role, found: statuses });
  }
});

it('project and credentials require use by the author', async () => {
  const { make, home } = test;
  const organization = home.organization.id;
  const own = await ownInventory();
  const { user, as } = await holderOf('admin_role', own);
  const scm = { scm_type: 'git', scm_url: 'https://example.org/a.git' };
  const [project, other] = [
    await make.project({ organization, ...scm }),
    await make.project({ organization, ...scm }),
  ];
  const credential = await make.credential({ organization, namespace: 'aws' });
  const files = body(own, { source: 'scm', source_project: project.id });
  const cloud = body(own, { credential: credential.id });
  await make.grant('project', project, 'read_role', { user });
  await make.grant('credential', credential, 'read_role', { user });
  for (const sent of [files, cloud]) await as.post('inventory_sources/', sent).expect(403);
  await make.grant('project', project, 'use_role', { user });
  await make.grant('credential', credential, 'use_role', { user });
  const { body: source } = await as.post('inventory_sources/', files).expect(201);
  const { body: asked } = await as.post('inventory_sources/', cloud).expect(201);
  const path = `inventory_sources/${source.id}/`;
  await as.patch(path, { source_project: other.id }).expect(403);
  await make.grant('project', other, 'use_role', { user });
  await make.revoke('project', project, 'use_role', { user });
  await as.patch(path, { source_project: other.id }).expect(403);
  await as.patch(path, { description: 'mine' }).expect(200);
  await make.grant('project', project, 'use_role', { user });
  await as.patch(path, { source_project: other.id }).expect(200);
  const list = `inventory_sources/${asked.id}/credentials/`;
  await as.post(list, { id: credential.id, disassociate: true }).expect(204);
  await make.revoke('credential', credential, 'use_role', { user });
  await as.post(list, { id: credential.id }).expect(403);
});
