/** Entries of the audit trail that each caller may read (docs/contract/activity.md). */
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('readers of an inventory see the activity of its hosts and groups', async () => {
  const { as, make } = test;
  const [inventory, other] = [await make.inventory(), await make.inventory()];
  const [host, group] = [await make.host(inventory), await make.group(inventory)];
  await make.host(other);
  const user = await make.user();
  const reader = await as.asUser(user);
  const entries = async (): Promise<unknown[]> => {
    const path = 'activity_stream/?object1__in=host,group&order_by=id';
    const { body } = await reader.get(path).expect(200);
    return body.results.map(({ changes }: { changes: { id: number } }) => changes.id);
  };
  expect(await entries()).toEqual([]);
  await make.grant('inventory', inventory, 'read_role', { user });
  expect(await entries()).toEqual([host.id, group.id]);
});
