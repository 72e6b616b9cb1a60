import { sql } from '../../src/database/sql.js';
import { candidates, startable } from '../../src/execution/scheduler/blocking.js';
import { RunQueueRepository } from '../../src/runs/run-queue.repository.js';
import { interleave } from '../support/interleave.js';
import { countQueries } from '../support/queries.js';
import { RunsDatabase, type RunFields } from './runs-database.js';
import { UnifiedJob } from '../../src/runs/unified-job.entity.js';

/** The rules of placement (docs/contract/runs.md#blocking), pass by pass on a real database. */
describe('the scheduler', () => {
  let runs: RunsDatabase;

  beforeAll(async () => {
    runs = await RunsDatabase.open();
  });
  afterAll(() => runs.close());
  beforeEach(() => runs.reset());

  const pass = () => runs.scheduler.pass();
  const waiting = () => runs.withStatus('waiting');

  describe('blocking', () => {
    it('starts runs that are not blocked, with their message, in one transaction', async () => {
      const id = await runs.job(await runs.template());
      await pass();
      expect(await waiting()).toEqual([id]);
      const rows = await runs.database.rows(sql`SELECT queue, subject_id FROM outbox`);
      expect(rows).toEqual([{ queue: 'runs', subject_id: id }]);
      const change = { jobId: id, type: 'job', status: 'waiting', reportsTo: null };
      expect(runs.signals.changes).toEqual([{ ...change, isReplaced: false }]);
    });

    it('runs jobs of a template one after the other, in order', async () => {
      const template = await runs.template();
      const ids = [await runs.job(template), await runs.job(template), await runs.job(template)];
      for (const id of ids) {
        await pass();
        await pass();
        expect(await waiting()).toEqual([id]);
        await runs.set([id], 'successful');
      }
    });

    it('runs jobs in parallel if the template allows it', async () => {
      const template = await runs.template();
      const overlapping = { allow_simultaneous: true };
      const ids = [await runs.job(template, overlapping), await runs.job(template, overlapping)];
      await pass();
      expect(await waiting()).toEqual(ids);
    });

    it('does not delay other templates behind a blocked one', async () => {
      const [busy, free] = [await runs.template(), await runs.template()];
      const [first, , third] = [await runs.job(busy), await runs.job(busy), await runs.job(free)];
      await pass();
      expect(await waiting()).toEqual([first, third]);
    });

    it('starts other runs while a long deletion locks one', async () => {
      const busy = await runs.template();
      const [first, next] = [await runs.job(busy), await runs.job(busy)];
      await pass();
      await runs.set([first], 'successful');
      const other = await runs.job(null);
      await interleave(runs.database, [
        () => runs.database.rows(sql`SELECT 1 FROM unified_jobs WHERE id = ${next} FOR UPDATE`),
        pass,
        async () => expect(await waiting()).toEqual([other]),
      ]);
      await pass();
      expect(await waiting()).toEqual([next, other]);
    });

    it('runs jobs without a template in parallel', async () => {
      const ids = [await runs.job(null), await runs.job(null)];
      await pass();
      expect(await waiting()).toEqual(ids);
    });

    it('runs the updates of a project one after the other', async () => {
      const project = await runs.project();
      const [first] = [await runs.update(project), await runs.update(project)];
      await pass();
      expect(await waiting()).toEqual([first]);
    });

    it('runs the commands of an inventory one after the other', async () => {
      const [busy, other] = [await runs.inventory(), await runs.inventory()];
      const [first, , free] = [
        await runs.command(busy),
        await runs.command(busy),
        await runs.command(other),
      ];
      await pass();
      expect(await waiting()).toEqual([first, free]);
    });

    it('delays a command while its inventory is updated', async () => {
      const inventory = await runs.inventory();
      const updating = { type: 'inventory_update', status: 'running', inventory_id: inventory };
      await runs.job(null, updating);
      await runs.command(inventory);
      await pass();
      expect(await waiting()).toEqual([]);
    });

    it('delays jobs while a command runs on their inventory, and no command behind a job', async () => {
      const [busy, other] = [await runs.inventory(), await runs.inventory()];
      await runs.command(busy, { status: 'running' });
      await runs.job(await runs.template(), { inventory_id: busy });
      const ids = [
        await runs.job(await runs.template(), { inventory_id: other }),
        await runs.command(other),
      ];
      await pass();
      expect(await waiting()).toEqual(ids);
    });

    it('delays only the jobs of a project while it is updated', async () => {
      const [updating, other] = [await runs.project(), await runs.project()];
      await runs.update(updating, { status: 'running' });
      await runs.job(await runs.template(), { project_id: updating });
      const free = await runs.job(await runs.template(), { project_id: other });
      await pass();
      expect(await waiting()).toEqual([free]);
    });

    it('does not start a later update before a job', async () => {
      const project = await runs.project();
      const job = await runs.job(await runs.template(), {
        project_id: project,
        dependencies_processed: true,
      });
      const update = await runs.update(project);
      await pass();
      expect(await waiting()).toEqual([job, update]);
    });
  });

  describe('capacity', () => {
    it('starts as many runs as the capacity permits, oldest first', async () => {
      await runs.reset(3);
      const ids = [];
      for (let count = 0; count < 5; count++) ids.push(await runs.job(null));
      await pass();
      expect(await waiting()).toEqual(ids.slice(0, 3));
      await pass();
      expect(await waiting()).toHaveLength(3);
      await runs.set(ids.slice(0, 1), 'successful');
      await pass();
      expect(await waiting()).toEqual(ids.slice(1, 4));
    });

    it('counts living workers only', async () => {
      await runs.reset(1);
      await runs.addWorker(1);
      await runs.addWorker(50, 3600);
      for (let count = 0; count < 5; count++) await runs.job(null);
      await pass();
      expect(await waiting()).toHaveLength(2);
    });

    it('explains why a job waits after a while', async () => {
      await runs.reset(0);
      const template = await runs.template();
      const old = { created: new Date(Date.now() - 60_000) };
      const [first, second] = [await runs.job(template, old), await runs.job(template, old)];
      const fresh = await runs.job(null);
      await pass();
      await runs.placement.explain();
      expect((await runs.run(first)).job_explanation).toBe(
        'This job is not ready to start because there is not enough available capacity. ' +
          'It needs 6 forks on one instance. Instance groups: default (0 of 1 instances ready).',
      );
      expect((await runs.run(second)).job_explanation).toBe(`waiting for job-${first} to finish`);
      expect((await runs.run(fresh)).job_explanation).toBe('');
      await runs.addWorker(5);
      await pass();
      expect((await runs.run(first)).job_explanation).toBe('');
    });
  });

  describe('dependencies', () => {
    const updates = () =>
      runs.database.rows<{ id: number; status: string; launch_type: string }>(sql`
        SELECT id, status, launch_type FROM unified_jobs WHERE type = 'project_update' ORDER BY id`);
    const jobOf = async (project: number, fields: RunFields = {}) =>
      runs.job(await runs.template(), { project_id: project, ...fields });

    it('syncs a project once for all waiting jobs, and starts them afterwards', async () => {
      const project = await runs.project({ scm_update_on_launch: true });
      const jobs = [await jobOf(project), await jobOf(project)];
      await pass();
      const [update, ...more] = await updates();
      expect(more).toEqual([]);
      expect(update).toMatchObject({ status: 'waiting', launch_type: 'dependency' });
      expect(runs.signals.entries).toMatchObject([
        { operation: 'create', object1: { type: 'project_update', id: update!.id } },
      ]);
      expect(await waiting()).toEqual([update!.id]);
      expect((await runs.run(jobs[0]!)).project_update_id).toBe(update!.id);
      await runs.set([update!.id], 'successful');
      await pass();
      expect(await waiting()).toEqual(jobs);
    });

    it.each([
      ['no sync yet', {}, null, 1],
      ['the last one failed', {}, 'failed', 1],
      ['the last one is old', {}, 'successful', 1],
      ['the last one is fresh', { scm_update_cache_timeout: 600 }, 'successful', 0],
    ])('%s', async (_name, fields, last, added) => {
      const project = await runs.project({ scm_update_on_launch: true, ...fields });
      if (last !== null) await runs.set([await runs.update(project)], last);
      const before = (await updates()).length;
      await jobOf(project);
      await pass();
      expect((await updates()).length - before).toBe(added);
    });

    it('waits for a sync in progress instead of creating another', async () => {
      const project = await runs.project({ scm_update_on_launch: true });
      const update = await runs.update(project, { status: 'running' });
      const job = await jobOf(project);
      await pass();
      expect(await updates()).toHaveLength(1);
      expect(await runs.run(job)).toMatchObject({ status: 'pending', depends_on: [update] });
    });

    it('starts no job whose dependency failed during the pass', async () => {
      const project = await runs.project({ scm_update_on_launch: true });
      const update = await runs.update(project, { status: 'running' });
      const job = await jobOf(project);
      await pass();
      const queue = new RunQueueRepository(runs.database.manager.getRepository(UnifiedJob));
      const ready = async () => startable(candidates(await queue.active()));
      for (const status of ['failed', 'error', 'canceled'] as const) {
        await runs.set([update], status);
        expect(await ready()).toEqual([]);
      }
      await runs.set([update], 'successful');
      expect(await ready()).toMatchObject([{ id: job }]);
    });

    it('syncs a project that was never synced', async () => {
      await jobOf(await runs.project({ scm_revision: '' }));
      await pass();
      expect(await updates()).toHaveLength(1);
    });

    it('does not sync manual projects and projects without update on launch', async () => {
      const jobs = [
        await jobOf(await runs.project()),
        await jobOf(
          await runs.project({ scm_type: '', scm_revision: '', scm_update_on_launch: true }),
        ),
      ];
      await pass();
      expect(await updates()).toEqual([]);
      expect(await waiting()).toEqual(jobs);
    });

    it.each([
      ['failed', 'failed', 'Failed'],
      ['error', 'failed', 'Failed'],
      ['canceled', 'canceled', 'Canceled'],
    ])('a dependency that ends %s ends its jobs %s', async (end, expected, word) => {
      const project = await runs.project({ scm_update_on_launch: true });
      const job = await jobOf(project);
      const other = await jobOf(await runs.project());
      await pass();
      const [update] = await updates();
      await runs.set([update!.id], end);
      await pass();
      const row = await runs.run(job);
      expect(row.status).toBe(expected);
      expect(
        JSON.parse(String(row.job_explanation).replace(`Previous Task ${word}: `, '')),
      ).toEqual({
        job_type: 'project_update',
        job_name: (await runs.run(update!.id)).name,
        job_id: String(update!.id),
      });
      expect((await runs.run(other)).status).toBe('waiting');
    });
  });

  it('skips the pass if another worker holds the lock', async () => {
    await runs.job(null);
    await runs.database.withClient(async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock(7401)');
      expect(await pass()).toBeNull();
      await client.query('ROLLBACK');
    });
    expect(await pass()).toBe(false);
    expect(await waiting()).toHaveLength(1);
  });

  it('needs the same number of statements for 1 and for 12 jobs', async () => {
    const counts: number[] = [];
    for (const jobs of [1, 12]) {
      await runs.reset();
      for (let count = 0; count < jobs; count++) {
        const project = await runs.project({ scm_update_on_launch: true });
        await runs.job(await runs.template(), { project_id: project });
        await runs.job(null);
      }
      counts.push(await countQueries(runs.database, pass));
      expect(await waiting()).toHaveLength(jobs * 2);
    }
    expect(counts[0]).toBe(counts[1]);
  });

  describe('a thousand simultaneous jobs', () => {
    const launch = (template: number, allowSimultaneous: boolean) =>
      runs.database.execute(sql`
        INSERT INTO unified_jobs (type, name, status, unified_job_template_id, allow_simultaneous)
        SELECT 'job', 'many', 'pending', ${template}, ${allowSimultaneous}
        FROM generate_series(1, 1000)`);

    it('do not delay the job of another template', async () => {
      await runs.reset(5);
      await launch(await runs.template(), false);
      const [first] = await runs.withStatus('pending');
      const other = await runs.job(await runs.template());
      await pass();
      expect(await waiting()).toEqual([first, other]);
    });

    it('start in order, then later jobs, with the same statements in each pass', async () => {
      const room = 25;
      await runs.reset(room);
      await launch(await runs.template(), true);
      const launched = await runs.withStatus('pending');
      const other = await runs.job(await runs.template());
      await launch(await runs.template(), true);
      const started: number[] = [];
      const statements = new Set<number>();
      while (!started.includes(other)) {
        statements.add(await countQueries(runs.database, pass));
        const ids = await waiting();
        expect(ids).toHaveLength(room);
        started.push(...ids);
        await runs.set(ids, 'successful');
      }
      expect(started.slice(0, 1001)).toEqual([...launched, other]);
      // The first pass settles their dependencies, the others find nothing of that to do.
      expect(statements.size).toBeLessThanOrEqual(2);
    });
  });

  it('starts more than 200 jobs a second', async () => {
    const [jobs, room] = [3000, 20];
    await runs.reset(room);
    const template = await runs.template();
    await runs.database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, allow_simultaneous)
      SELECT 'job', 'many', 'pending', ${template}, true FROM generate_series(1, ${jobs}::int)`);
    const started = performance.now();
    let passes = 0;
    for (let placed = 0; placed < 1000; passes++) {
      await pass();
      const ids = await waiting();
      placed += ids.length;
      await runs.set(ids, 'successful');
    }
    const rate = Math.round((1000 / (performance.now() - started)) * 1000);
    process.stdout.write(`    ${rate} starts/s, ${passes} passes of ${room}, ${jobs} pending\n`);
    expect(rate).toBeGreaterThan(200);
  });
});
