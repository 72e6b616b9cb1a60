import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

import type { Row } from '../../src/common/resource/define-resource.js';
import { startThrowawayServices } from '../../scripts/services/throwaway.mjs';
import { eventually } from '../support/eventually.js';
import { ApiCalls } from './support/api-calls.js';
import { Cluster } from './support/cluster.js';
import type { Program } from './support/processes.js';

/** Minutes of work for the plugin, without memory: the update is read for as long as a test needs it. */
const SLOW = 'compose: {slow: range(1000000000) | sum}';
/** Enough to read a source, however busy the machine is. */
const TIMEOUT_S = 15;
/** As many as there are below. */
const TESTS = 11;

/**
 * Updates of inventories whose worker, API, connections to the database or its server die: the inventory is as
 * it was or as it is after, never between.
 */
describe('an inventory update', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let input: Row;

  beforeAll(async () => {
    cluster = await Cluster.start({
      ...{ concurrency: 4, server: await startThrowawayServices({ redis: false }) },
    });
    api = await ApiCalls.start(cluster);
  });
  afterAll(() => cluster.stop());

  const workers: Program[] = [];
  const work = async (environment: Record<string, string> = {}): Promise<Program> => {
    const worker = await cluster.worker(environment);
    workers.push(worker);
    return worker;
  };
  afterEach(async () => {
    for (const { child, ended } of workers.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  const make = (path: string, fields: object) => api.call('POST', path, fields);
  const host = (name: string, variables: string) =>
    make(`inventories/${input.id}/hosts/`, { name, variables });

  /** An inventory made of another one: with that one's hosts a and b, once an update brought them in. */
  interface Prepared {
    input: Row;
    hosts: { a: Row; b: Row };
    made: Row;
    source: number;
  }

  async function prepare(number: number): Promise<Prepared> {
    input = await make('inventories/', { name: `Input ${number}`, organization: 1 });
    const hosts = { a: await host('a', 'x: 1'), b: await host('b', 'x: 1') };
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
    return { input, hosts, made, source };
  }

  /** One for each test, brought in by one worker. */
  const ready: Prepared[] = [];
  beforeAll(async () => {
    const updates: number[] = [];
    for (let number = 1; number <= TESTS; number += 1) {
      const one = await prepare(number);
      ready.push(one);
      updates.push(await start(one.source));
    }
    const worker = await cluster.worker();
    expect(await cluster.over(updates, 240_000)).toEqual({ successful: TESTS });
    worker.child.kill('SIGKILL');
    await worker.ended;
  });

  /** One that is brought in; in its input b goes, c comes, a changes. */
  async function changed(): Promise<{ made: Row; source: number }> {
    const next = ready.pop();
    if (!next) throw new Error('There are more tests than TESTS.');
    const { hosts, made, source } = next;
    ({ input } = next);
    await api.call('PATCH', `hosts/${hosts.a.id}/`, { variables: 'x: 2' });
    await api.text('DELETE', `hosts/${hosts.b.id}/`);
    await host('c', 'x: 3');
    expect(await contentOf(made)).toEqual(BEFORE);
    return { made, source };
  }

  const start = async (source: number): Promise<number> =>
    (await make(`inventory_sources/${source}/update/`, {})).inventory_update as number;

  const BEFORE = { hosts: { a: { x: 1 }, b: { x: 1 } }, groups: { _1: ['a', 'b'] }, total: 2 };
  const AFTER = {
    ...{ hosts: { a: { x: 2 }, c: { x: 3 } }, groups: { _2: ['a'], _3: ['c'] }, total: 2 },
  };

  /** What readers see of an inventory. */
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
   * Holds the row of a host, at which an import stops after it has removed and before it has made
   * anything. @returns what lets it go on
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

  const isStoring = () =>
    eventually(async () => {
      const rows = await cluster.rows(`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock' AND query LIKE '%UPDATE hosts SET name%'`);
      expect(rows).toHaveLength(1);
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

  it('is begun again when its worker dies while it is read', async () => {
    const { made, source } = await changed();
    const { source_vars: quick } = await api.call('GET', `inventory_sources/${source}/`);
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: SLOW });
    const id = await start(source);
    const first = await work();
    await isRead(id);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await contentOf(made)).toEqual(BEFORE);
    await cluster.rows('UPDATE unified_jobs SET source_vars = $2 WHERE id = $1', [id, quick]);
    await work();
    await cluster.becomes(id, 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('stores nothing when its worker dies while it stores, and all of it the next time', async () => {
    const { made, source } = await changed();
    const letGo = await holdHost(made);
    const id = await start(source);
    const first = await work();
    await isStoring();
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await contentOf(made)).toEqual(BEFORE);
    await letGo();
    expect(await contentOf(made)).toEqual(BEFORE);
    await work();
    await cluster.becomes(id, 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('fails with the reason when every worker dies of it, and leaves all as it was', async () => {
    const { made, source } = await changed();
    const id = await start(source);
    for (let death = 0; death < 3; death += 1) {
      const worker = await work({ FAIL_POINT: 'inventory-storing' });
      expect(await worker.ended).toBe('SIGKILL');
    }
    await work();
    const { job_explanation: reason } = await cluster.becomes(id, 'failed', 120_000);
    expect(reason).toBe(
      'Task was marked as running but was not present in the job queue, so it has been marked as failed.',
    );
    expect(await contentOf(made)).toEqual(BEFORE);
    await cluster.becomes(await start(source), 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('is there as a whole when its worker dies after the commit', async () => {
    const { made, source } = await changed();
    const id = await start(source);
    const worker = await work({ FAIL_POINT: 'run-finished' });
    expect(await worker.ended).toBe('SIGKILL');
    expect((await cluster.job(id)).status).toBe('successful');
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('goes on when the API dies that accepted it', async () => {
    const { made, source } = await changed();
    const dying = await cluster.api({ FAIL_POINT: 'run-committed' });
    await expect(
      fetch(`${dying.url}/api/v2/inventory_sources/${source}/update/`, {
        ...{ method: 'POST', headers: { Authorization: api.authorization } },
      }),
    ).rejects.toThrow();
    await dying.ended;
    const [run] = await cluster.rows<{ id: number }>(
      `SELECT max(id) AS id FROM unified_jobs WHERE inventory_source_id = $1`,
      [source],
    );
    await work();
    await cluster.becomes(run?.id ?? 0, 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('is stored once when the database ends its connections while it stores', async () => {
    const { made, source } = await changed();
    const letGo = await holdHost(made);
    const id = await start(source);
    const worker = await work();
    await isStoring();
    await cluster.rows(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    expect(await contentOf(made)).toEqual(BEFORE);
    await letGo();
    await cluster.becomes(id, 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
    expect((await cluster.job(id)).attempt).toBe(1);
    expect(worker.child.exitCode).toBeNull();
  });

  it('is stored once when the server of the database is killed while it stores', async () => {
    const { made, source } = await changed();
    await holdHost(made);
    const id = await start(source);
    await work();
    await isStoring();
    await cluster.database.kill();
    await cluster.database.resume();
    // What the lock held back may be through before anybody looks, but never a part of it.
    await eventually(async () => {
      expect([BEFORE, AFTER]).toContainEqual(await contentOf(made));
      expect((await cluster.job(id)).status).toBe('successful');
    }, 240_000);
    expect(await contentOf(made)).toEqual(AFTER);
  }, 400_000);

  it('ends, and leaves all as it was, when the server was killed while it is read', async () => {
    const { made, source } = await changed();
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: SLOW });
    const id = await start(source);
    await work();
    await isRead(id);
    await cluster.database.kill();
    await cluster.database.resume();
    await eventually(() => make(`inventory_updates/${id}/cancel/`, {}), 60_000);
    await cluster.becomes(id, 'canceled', 240_000);
    expect(await contentOf(made)).toEqual(BEFORE);
  }, 400_000);

  it('waits for another one that stores into the same inventory', async () => {
    const { made, source } = await changed();
    const options = `inventory_id, organization_id, source, source_path, source_vars, scm_branch,
      enabled_var, enabled_value, host_filter, overwrite, overwrite_vars, timeout, verbosity,
      "limit", update_on_launch, update_cache_timeout`;
    const [other] = await cluster.rows<{ id: number }>(
      `INSERT INTO unified_job_templates (type, name, ${options})
       SELECT type, 'Another source', ${options} FROM unified_job_templates WHERE id = $1
       RETURNING id`,
      [source],
    );
    const letGo = await holdHost(made);
    const ids = [await start(source), await start(other?.id ?? 0)];
    await work();
    await eventually(async () => {
      const waiting = await cluster.rows(`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(waiting).toHaveLength(2);
    }, 120_000);
    expect(await contentOf(made)).toEqual(BEFORE);
    await letGo();
    expect(await cluster.over(ids, 120_000)).toEqual({ successful: 2 });
    expect(await contentOf(made)).toEqual(AFTER);
  });

  it('can be canceled before it starts, while it is read, and while it stores', async () => {
    const { made, source } = await changed();
    await canceled(await start(source));
    expect(await contentOf(made)).toEqual(BEFORE);

    await work();
    const { source_vars: quick } = await api.call('GET', `inventory_sources/${source}/`);
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: SLOW });
    const reading = await start(source);
    await isRead(reading);
    await canceled(reading);
    await api.call('PATCH', `inventory_sources/${source}/`, { source_vars: quick });

    const letGo = await holdHost(made);
    const storing = await start(source);
    await isStoring();
    await make(`inventory_updates/${storing}/cancel/`, {});
    await letGo();
    const { job_explanation: reason } = await cluster.becomes(storing, 'canceled', 60_000);
    expect(reason).toBe('Inventory update has been canceled');
    expect(await contentOf(made)).toEqual(BEFORE);
    await cluster.becomes(await start(source), 'successful', 120_000);
    expect(await contentOf(made)).toEqual(AFTER);
  }, 400_000);

  it('stores nothing when its time is over while it stores', async () => {
    const { made, source } = await changed();
    const letGo = await holdHost(made);
    const id = await start(source);
    await cluster.rows('UPDATE unified_jobs SET timeout = $1 WHERE id = $2', [TIMEOUT_S, id]);
    await work();
    await isStoring();
    // Its time began before it stored anything, but by the clock of its worker: later than `started`.
    await sleep(TIMEOUT_S * 1000 + 1);
    await letGo();
    const { job_explanation: reason } = await cluster.becomes(id, 'failed', 60_000);
    expect(reason).toBe('Inventory update has timed out');
    expect(await contentOf(made)).toEqual(BEFORE);
  });
});
