import { sql } from '../../src/database/sql.js';
import { RunsDatabase } from './runs-database.js';

/**
 * Updates of constructed inventories wait for other runs (docs/contract/constructed-inventories.md#order).
 */
describe('the update of a constructed inventory', () => {
  let runs: RunsDatabase;
  let made: number;
  let input: number;
  let hidden: number;

  beforeAll(async () => {
    runs = await RunsDatabase.open();
  });
  afterAll(() => runs.close());
  beforeEach(async () => {
    await runs.reset();
    made = await runs.inventory({ kind: 'constructed' });
    input = await runs.inventory();
    await runs.input(made, input);
    await runs.input(made, await runs.inventory());
    hidden = await runs.inventorySource(made, { source: 'constructed' });
  });

  const pass = () => runs.scheduler.pass();
  const waiting = () => runs.withStatus('waiting');
  const updatesOf = (source: number) =>
    runs.database.rows<{ id: number }>(sql`
      SELECT id FROM unified_jobs WHERE inventory_source_id = ${source} ORDER BY id`);

  it('runs after the due updates of its inputs, and before the jobs on it', async () => {
    const source = await runs.inventorySource(input);
    await runs.inventorySource(input, { update_on_launch: false });
    const job = await runs.job(await runs.template(), { inventory_id: made });
    // One pass for the job, one for the update that it requires, one for the updates required by that.
    for (let round = 0; round < 3; round += 1) await pass();
    const [own] = await updatesOf(hidden);
    const [first, ...more] = await updatesOf(source);
    expect(more).toEqual([]);
    expect(await waiting()).toEqual([first!.id]);
    await runs.set([first!.id], 'successful');
    await pass();
    expect(await waiting()).toEqual([own!.id]);
    await runs.set([own!.id], 'successful');
    await pass();
    expect(await waiting()).toEqual([job]);
  });

  it('starts no updates of current inventories', async () => {
    const source = await runs.inventorySource(input, { update_cache_timeout: 600 });
    await runs.inventoryUpdate(source);
    const [fresh] = await updatesOf(source);
    await runs.set([fresh!.id], 'successful');
    const own = await runs.inventoryUpdate(hidden);
    await pass();
    expect(await waiting()).toEqual([own]);
    expect(await updatesOf(source)).toHaveLength(1);
  });

  it.each([
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ])('ends with an update that it depends on and that %s', async (end, expected) => {
    const source = await runs.inventorySource(input);
    const own = await runs.inventoryUpdate(hidden);
    await pass();
    await runs.set([(await updatesOf(source))[0]!.id], end);
    await pass();
    expect(await runs.run(own)).toMatchObject({
      status: expected,
      job_explanation: expect.stringContaining('"job_type": "inventory_update"'),
    });
  });

  it('waits for earlier updates of its inputs by any user, and not for later ones', async () => {
    const source = await runs.inventorySource(input, { update_on_launch: false });
    const earlier = await runs.inventoryUpdate(source, { status: 'running' });
    const own = await runs.inventoryUpdate(hidden);
    await pass();
    expect(await waiting()).toEqual([]);
    await runs.set([earlier], 'failed');
    await pass();
    expect(await waiting()).toEqual([own]);
    await runs.set([own], 'running');
    const later = await runs.inventoryUpdate(source);
    await pass();
    expect(await waiting()).toEqual([later]);
  });

  it('does not wait for updates of inventories that are not its inputs', async () => {
    const elsewhere = await runs.inventorySource(await runs.inventory());
    await runs.inventoryUpdate(elsewhere, { status: 'running' });
    const own = await runs.inventoryUpdate(hidden);
    await pass();
    expect(await waiting()).toEqual([own]);
  });
});
