/**
 * Budget: 55 s, because four workers and a database server are killed, and each update starts Ansible.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import type { Row } from '../../src/common/resource/define-resource.js';
import { startThrowawayServices } from '../../scripts/services/throwaway.mjs';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { ApiCalls } from './support/api-calls.js';
import { Cluster } from './support/cluster.js';
import type { Program } from './support/processes.js';

/** Setting that keeps the plugin busy for minutes without memory, for as long as a test needs it. */
const SLOW = 'compose: {slow: range(1000000000) | sum}';
/** Timeout long enough to read a source, however busy the machine is. */
const TIMEOUT_S = 15;
/** Number of workers killed by the same update. Each takes two of the attempts of a run. */
const DEATHS = IS_DEEP ? 3 : 1;
const MAX_ATTEMPTS = 5;

/**
 * Inventory updates are atomic when the worker, the API, the database connections or the database server is
 * killed.
 */
describe('an inventory update', () => {
  let cluster: Cluster;
  let api: ApiCalls;

  beforeAll(async () => {
    cluster = await Cluster.start({
      ...{ concurrency: 4, server: await startThrowawayServices({ redis: false }) },
    });
    api = await ApiCalls.inside(cluster);
    ready = await Promise.all([prepare(1), prepare(2)]);
    const updates = [await start(ready[0].source), await start(ready[1].source)];
    await survivor();
    expect(await cluster.over(updates, 240_000)).toEqual({ successful: updates.length });
  });
  afterAll(() => cluster.stop());

  const workers: Program[] = [];
  const work = async (environment: Record<string, string> = {}): Promise<Program> => {
    const worker = await cluster.worker(environment);
    workers.push(worker);
    return worker;
  };
  /** Returns a worker without fail points: the one of an earlier test, or a new one. */
  async function survivor(): Promise<Program> {
    return workers.at(-1) ?? (await work());
  }
  async function kill(worker: Program): Promise<void> {
    worker.child.kill('SIGKILL');
    await worker.ended;
    workers.splice(workers.indexOf(worker), 1);
  }
  async function killAll(): Promise<void> {
    for (const worker of [...workers]) await kill(worker);
  }
  /** Starts a worker that is killed at a fail point. */
  async function die(point: string): Promise<void> {
    const worker = await work({ FAIL_POINT: point });
    expect(await worker.ended).toBe('SIGKILL');
    workers.splice(workers.indexOf(worker), 1);
  }

  const make = (path: string, fields: object) => api.call('POST', path, fields);

  /** Constructed inventory and its input, whose hosts an update has copied. */
  interface Prepared {
    input: Row;
    /** Hosts of the input by name: `a`, and one named after the generation. */
    hosts: Map<string, Row>;
    made: Row;
    source: number;
  }
  let ready: [Prepared, Prepared];
  let generation = 0;

  async function prepare(number: number): Promise<Prepared> {
    const input = await make('inventories/', { name: `Input ${number}`, organization: 1 });
    const made = await make('constructed_inventories/', {
      ...{
        name: `Made ${number}`,
        organization: 1,
        source_vars: 'keyed_groups: [{key: x | string}]',
      },
    });
    await make(`inventories/${made.id}/input_inventories/`, { id: input.id });
    const [{ id: source }] = (await api.call('GET', `inventories/${made.id}/inventory_sources/`))
      .results as [Row];
    const prepared = { input, hosts: new Map<string, Row>(), made, source };
    await addHost(prepared, 'a', 1);
    await addHost(prepared, 'b', 1);
    return prepared;
  }

  async function addHost({ input, hosts }: Prepared, name: string, x: number): Promise<void> {
    const variables = `x: ${x}`;
    hosts.set(name, await make(`inventories/${input.id}/hosts/`, { name, variables }));
  }

  interface Changed {
    made: Row;
    source: number;
    /** Content of the inventory before and after the next update. */
    before: object;
    after: object;
  }

  /** Changes host `a` of the input, and replaces the other host. */
  async function changed(prepared = ready[0]): Promise<Changed> {
    const { hosts, made, source } = prepared;
    generation += 1;
    const [name, x, other] = [`b${generation}`, generation * 2, generation * 2 + 1];
    await api.call('PATCH', `hosts/${hosts.get('a')?.id}/`, { variables: `x: ${x}` });
    for (const [old, { id }] of [...hosts]) {
      if (old === 'a') continue;
      await api.text('DELETE', `hosts/${id}/`);
      hosts.delete(old);
    }
    await addHost(prepared, name, other);
    const after = {
      hosts: { a: { x }, [name]: { x: other } },
      groups: { [`_${x}`]: ['a'], [`_${other}`]: [name] },
      total: 2,
    };
    const before = await contentOf(made);
    expect(before).not.toEqual(after);
    return { made, source, before, after };
  }

  const start = async (source: number): Promise<number> =>
    (await make(`inventory_sources/${source}/update/`, {})).inventory_update as number;

  /** Returns the content of an inventory as readers see it. */
  async function contentOf({ id }: Row): Promise<object> {
    const { _meta, ...groups } = await api.call('GET', `inventories/${id}/script/?hostvars=1`);
    const named = Object.entries(groups).filter(([name]) => name !== 'all');
    return {
      hosts: (_meta as { hostvars: object }).hostvars,
      groups: Object.fromEntries(
        named.map(([name, group]) => [name, (group as { hosts: string[] }).hosts]),
      ),
      total: (await api.call('GET', `inventories/${id}/`)).total_hosts,
    };
  }

  /**
   * Locks the row of a host, at which an import stops after its removals and before its additions.
   * @returns a function that releases the lock
   */
  async function holdHost(made: Row): Promise<() => Promise<void>> {
    const holder: pg.Client = await cluster.database.connect();
    await holder.query('BEGIN');
    const text = `SELECT 1 FROM hosts WHERE inventory_id = $1 AND name = 'a' FOR UPDATE`;
    await holder.query(text, [made.id]);
    return async () => {
      await holder.query('ROLLBACK');
      await holder.end();
    };
  }

  const isStoring = (count = 1) =>
    eventually(async () => {
      const rows = await cluster.rows(`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock' AND query LIKE '%UPDATE hosts SET name%'`);
      expect(rows).toHaveLength(count);
    }, 90_000);

  const isRead = (id: number) =>
    eventually(async () => {
      const [row] = await cluster.rows(
        'SELECT 1 FROM unified_jobs WHERE id = $1 AND job_args <> $2',
        [id, ''],
      );
      expect(row).toBeDefined();
    }, 90_000);

  const canceled = async (id: number): Promise<void> => {
    await make(`inventory_updates/${id}/cancel/`, {});
    await cluster.becomes(id, 'canceled', 60_000);
  };

  /** Sets a timeout, which the API refuses for a constructed inventory, before an update starts. */
  const setTimeLimit = (source: number, seconds: number) =>
    cluster.rows('UPDATE unified_job_templates SET timeout = $2 WHERE id = $1', [source, seconds]);

  it('is started again if its worker dies while it reads or stores, and stores everything', async () => {
    const read = await changed();
    const stored = await changed(ready[1]);
    const { source_vars: quick } = await api.call('GET', `inventory_sources/${read.source}/`);
    await api.call('PATCH', `inventory_sources/${read.source}/`, { source_vars: SLOW });
    const letGo = await holdHost(stored.made);
    const first = await survivor();
    const [reading, storing] = [await start(read.source), await start(stored.source)];
    await isRead(reading);
    await isStoring();
    await kill(first);
    expect(await contentOf(read.made)).toEqual(read.before);
    expect(await contentOf(stored.made)).toEqual(stored.before);
    await cluster.rows('UPDATE unified_jobs SET source_vars = $2 WHERE id = $1', [reading, quick]);
    await api.call('PATCH', `inventory_sources/${read.source}/`, { source_vars: quick });
    await letGo();
    expect(await contentOf(stored.made)).toEqual(stored.before);
    await survivor();
    expect(await cluster.over([reading, storing], 120_000)).toEqual({ successful: 2 });
    expect(await contentOf(read.made)).toEqual(read.after);
    expect(await contentOf(stored.made)).toEqual(stored.after);
  });

  it('is stored once if the database closes its connections while it stores', async () => {
    const { made, source, before, after } = await changed();
    const letGo = await holdHost(made);
    const worker = await survivor();
    const id = await start(source);
    await isStoring();
    await cluster.rows(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    expect(await contentOf(made)).toEqual(before);
    await letGo();
    await cluster.becomes(id, 'successful', 120_000);
    expect(await contentOf(made)).toEqual(after);
    expect((await cluster.job(id)).attempt).toBe(1);
    expect(worker.child.exitCode).toBeNull();
  });

  it('is stored once if the database server is killed while it stores', async () => {
    const { made, source, before, after } = await changed();
    await holdHost(made);
    await survivor();
    const id = await start(source);
    await isStoring();
    await cluster.database.kill();
    await cluster.database.resume();
    // The update may finish before the test reads the inventory, but never store a part of it.
    await eventually(async () => {
      expect([before, after]).toContainEqual(await contentOf(made));
      expect((await cluster.job(id)).status).toBe('successful');
    }, 240_000);
    expect(await contentOf(made)).toEqual(after);
  }, 400_000);

  // A normal run covers updates killed while they are read, and the server killed while one stores.
  if (IS_DEEP) {
    it('ends without changes if the database server was killed during the import', async () => {
      const { made, source, before } = await changed();
      const { source_vars: quick } = await api.call('GET', `inventory_sources/${source}/`);
      await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: SLOW });
      await survivor();
      const id = await start(source);
      await isRead(id);
      await cluster.database.kill();
      await cluster.database.resume();
      await eventually(() => make(`inventory_updates/${id}/cancel/`, {}), 60_000);
      await cluster.becomes(id, 'canceled', 240_000);
      expect(await contentOf(made)).toEqual(before);
      await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: quick });
    }, 400_000);
  }

  it('stores nothing if it is canceled or times out', async () => {
    const { made, source, before, after } = await changed();
    const late = await changed(ready[1]);
    const letLateGo = await holdHost(late.made);
    await setTimeLimit(late.source, TIMEOUT_S);
    const lateId = await start(late.source);
    await setTimeLimit(late.source, 0);
    await survivor();
    await isStoring();
    // The timeout began before the update stored anything, but later than `started` and by the clock of its
    // worker.
    const timeIsOver = sleep(TIMEOUT_S * 1000 + 1);

    const { source_vars: quick } = await api.call('GET', `inventory_sources/${source}/`);
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: SLOW });
    const reading = await start(source);
    await isRead(reading);
    await canceled(reading);
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: quick });

    const letGo = await holdHost(made);
    const storing = await start(source);
    await isStoring(2);
    await make(`inventory_updates/${storing}/cancel/`, {});
    await letGo();
    const { job_explanation: reason } = await cluster.becomes(storing, 'canceled', 60_000);
    expect(reason).toBe('Inventory update has been canceled');
    expect(await contentOf(made)).toEqual(before);
    await cluster.becomes(await start(source), 'successful', 120_000);
    expect(await contentOf(made)).toEqual(after);

    await timeIsOver;
    await letLateGo();
    const { job_explanation: lateReason } = await cluster.becomes(lateId, 'failed', 60_000);
    expect(lateReason).toBe('Inventory update has timed out');
    expect(await contentOf(late.made)).toEqual(late.before);
  }, 400_000);

  it('is stored completely if its worker dies after the commit, and not at all if it dies before', async () => {
    const ended = await changed();
    const unstored = await changed(ready[1]);
    await killAll();
    await canceled(await start(unstored.source));
    expect(await contentOf(unstored.made)).toEqual(unstored.before);

    const id = await start(ended.source);
    await die('run-finished');
    expect((await cluster.job(id)).status).toBe('successful');
    expect(await contentOf(ended.made)).toEqual(ended.after);

    // The results kill the worker: no other worker reads them.
    const unread = await changed();
    const reading = await start(unread.source);
    await die('inventory-results');

    // An update that kills every worker. A killed worker takes one attempt, and taking the run back another.
    const storing = await start(unstored.source);
    const attempt = MAX_ATTEMPTS + 1 - 2 * DEATHS;
    await cluster.rows('UPDATE unified_jobs SET attempt = $2 WHERE id = $1', [storing, attempt]);
    for (let death = 0; death < DEATHS; death += 1) await die('inventory-storing');

    await survivor();
    for (const failed of [reading, storing]) {
      const { job_explanation: reason } = await cluster.becomes(failed, 'failed', 120_000);
      expect(reason).toBe(
        'Task was marked as running but was not present in the job queue, so it has been marked as failed.',
      );
    }
    expect(await contentOf(unread.made)).toEqual(unread.before);
    expect(await contentOf(unstored.made)).toEqual(unstored.before);
    const next = [await start(unread.source), await start(unstored.source)];
    expect(await cluster.over(next, 120_000)).toEqual({ successful: 2 });
    expect(await contentOf(unread.made)).toEqual(unread.after);
    expect(await contentOf(unstored.made)).toEqual(unstored.after);
  });
});
