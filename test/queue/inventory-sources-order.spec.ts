import { sql } from '../../src/database/sql.js';
import { interleave } from '../support/interleave.js';
import { RunsDatabase } from './runs-database.js';

/**
 * Jobs wait for updates of their inventory's sources (docs/contract/inventory-sources.md#update-on-launch).
 */
describe('a job on an inventory with sources', () => {
  let runs: RunsDatabase;
  let inventory: number;

  beforeAll(async () => {
    runs = await RunsDatabase.open();
  });
  afterAll(() => runs.close());
  beforeEach(async () => {
    await runs.reset();
    inventory = await runs.inventory();
  });

  const pass = () => runs.scheduler.pass();
  const waiting = () => runs.withStatus('waiting');
  const job = async () => runs.job(await runs.template(), { inventory_id: inventory });
  const updatesOf = async (source: number): Promise<number[]> => {
    const rows = await runs.database.rows<{ id: number }>(sql`
      SELECT id FROM unified_jobs WHERE inventory_source_id = ${source} ORDER BY id`);
    return rows.map(({ id }) => id);
  };
  /** Creates an update that ended the given number of seconds ago. */
  async function ended(source: number, status: string, seconds: number): Promise<void> {
    const id = await runs.inventoryUpdate(source);
    await runs.set([id], status);
    await runs.database.execute(sql`
      UPDATE unified_jobs SET finished = now() - make_interval(secs => ${seconds}::int) WHERE id = ${id}`);
  }

  it('shares one update of each with simultaneous jobs, and starts after them', async () => {
    const sources = [await runs.inventorySource(inventory), await runs.inventorySource(inventory)];
    const silent = await runs.inventorySource(inventory, { update_on_launch: false });
    const jobs = [await job(), await job()];
    await pass();
    await pass();
    const updates = (await Promise.all(sources.map(updatesOf))).flat();
    expect(updates).toHaveLength(2);
    expect(await updatesOf(silent)).toEqual([]);
    expect(await waiting()).toEqual(updates);
    expect(await runs.run(updates[0] ?? 0)).toMatchObject({ launch_type: 'dependency' });
    expect(runs.signals.entries).toMatchObject(
      updates.map((id) => ({ operation: 'create', object1: { type: 'inventory_update', id } })),
    );
    await runs.set(updates.slice(0, 1), 'successful');
    await pass();
    expect(await waiting()).toEqual(updates.slice(1));
    await runs.set(updates.slice(1), 'successful');
    await pass();
    expect(await waiting()).toEqual(jobs);
  });

  it.each([
    ['is fresh', 'successful', 30, 60, 0],
    ['is older than it may be', 'successful', 90, 60, 1],
    ['has no time for which it is fresh', 'successful', 1, 0, 1],
    ['failed last', 'failed', 1, 60, 1],
    ['was canceled last', 'canceled', 1, 60, 1],
  ])('updates a source that %s, or not', async (_what, status, seconds, timeout, made) => {
    const source = await runs.inventorySource(inventory, { update_cache_timeout: timeout });
    await ended(source, status, seconds);
    const own = await job();
    await pass();
    await pass();
    const updates = (await updatesOf(source)).slice(1);
    expect(updates).toHaveLength(made);
    expect(await waiting()).toEqual(made === 0 ? [own] : updates);
  });

  it.each([
    ['takes', 'callback', 'successful', 30, 0],
    ['does not take', 'callback', 'successful', 90, 1],
    ['does not take', 'callback', 'failed', 30, 1],
    ['does not take', 'manual', 'successful', 30, 1],
  ])('%s a %s update as current, %s, %i seconds ago', async (...[, by, status, ago, made]) => {
    const source = await runs.inventorySource(inventory);
    await ended(source, status, ago);
    await runs.database.execute(sql`
      UPDATE unified_jobs SET launch_type = ${by} WHERE inventory_source_id = ${source}`);
    await job();
    await pass();
    expect((await updatesOf(source)).slice(1)).toHaveLength(made);
  });

  it('uses an update that is already in progress', async () => {
    const source = await runs.inventorySource(inventory);
    const running = await runs.inventoryUpdate(source, { status: 'running' });
    const own = await job();
    await pass();
    expect(await updatesOf(source)).toEqual([running]);
    expect(await waiting()).toEqual([]);
    await runs.set([running], 'successful');
    await pass();
    expect(await waiting()).toEqual([own]);
  });

  it('shares an update that a callback starts at the same time', async () => {
    const source = await runs.inventorySource(inventory);
    await job();
    await interleave(runs.database, [
      () => runs.sources.due([inventory]),
      pass,
      () => runs.inventoryUpdate(source),
    ]);
    expect(await updatesOf(source)).toHaveLength(1);
  });

  it.each(['source', 'project'])('does not wait for a %s that is being deleted', async (kind) => {
    const project = await runs.project({ scm_update_on_launch: true });
    const deleted = kind === 'project' ? project : await runs.inventorySource(inventory);
    const own = await runs.job(await runs.template(), {
      inventory_id: inventory,
      project_id: kind === 'project' ? project : null,
    });
    await interleave(runs.database, [
      () => runs.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${deleted}`),
      pass,
      () => Promise.resolve(),
    ]);
    await pass();
    expect(await waiting()).toEqual([own]);
  });

  it('fails with the source, and names it', async () => {
    const source = await runs.inventorySource(inventory);
    const own = await job();
    await pass();
    const [update = 0] = await updatesOf(source);
    await runs.set([update], 'failed');
    await pass();
    expect(await runs.run(own)).toMatchObject({
      status: 'failed',
      job_explanation: `Previous Task Failed: {"job_type": "inventory_update", "job_name": "${String((await runs.run(update)).name)}", "job_id": "${update}"}`,
    });
  });

  it('waits for manual updates, which wait for no job, and for each other by source', async () => {
    const [one, other] = [
      await runs.inventorySource(inventory, { update_on_launch: false }),
      await runs.inventorySource(inventory, { update_on_launch: false }),
    ];
    const running = await job();
    await pass();
    await runs.set([running], 'running');
    const [first, second] = [await runs.inventoryUpdate(one), await runs.inventoryUpdate(one)];
    const beside = await runs.inventoryUpdate(other);
    const own = await job();
    await pass();
    expect(await waiting()).toEqual([first, beside]);
    await runs.set([first, beside], 'successful');
    await pass();
    expect(await waiting()).toEqual([second]);
    await runs.set([second], 'successful');
    await pass();
    expect(await waiting()).toEqual([own]);
  });

  it('is different from a command, which updates nothing', async () => {
    const source = await runs.inventorySource(inventory);
    const command = await runs.command(inventory);
    await pass();
    expect(await waiting()).toEqual([command]);
    expect(await updatesOf(source)).toEqual([]);
  });
});
