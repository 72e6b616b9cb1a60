/**
 * Budget: 40 s, because eight workers start and playbooks of real Ansible are interrupted. In deep tests
 * 20 s more: a cleanup of 24,000 runs whose workers are killed at any moment, and not only after a batch,
 * as in `npm test`.
 */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { baseKey, MARK_VARIABLE } from '../../src/execution/runner/workspace.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { Cluster, noting } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';
import { processesWith, type Program } from './support/processes.js';

/** Limit on the start of a worker and its Ansible, which takes many times as long on a busy machine. */
const START_MS = 60_000;
/** Duration longer than any test, so that every kill interrupts the run. */
const LONG_S = 600;
/** Number of runs that a cleanup removes, and of kills of its worker during the cleanup. */
const OLD_RUNS = IS_DEEP ? 24_000 : 250;
const KILLS = IS_DEEP ? 3 : 0;
const CLEANUP_MS = IS_DEEP ? 600_000 : 180_000;

/** Tests of killed workers, with real `ansible-runner` and real playbooks. */
describe('a worker that dies', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    // A job waits while another one runs.
    cluster = await Cluster.start({ concurrency: 1 });
    const files = join(cluster.folder, 'data', 'projects', 'demo');
    await writeFile(join(files, 'long.yml'), noting(join(cluster.folder, 'ledger'), LONG_S));
  });

  afterAll(() => cluster.stop());

  const folder = () => join(cluster.folder, 'data', 'workspaces');
  /** Selects by folder, as tests that run in parallel use the same ids. */
  const marked = (id: number) => processesWith(`${MARK_VARIABLE}=${id}:1:${baseKey(folder())}`);
  const begunTasks = async (id: number) => {
    const text = `SELECT count(*)::int AS tasks FROM job_events
      WHERE job_id = $1 AND event = 'playbook_on_task_start'`;
    const [row] = await cluster.rows<{ tasks: number }>(text, [id]);
    return row?.tasks;
  };
  const workspaces = () => readdir(folder()).catch(() => []);

  let worker: Program | undefined;
  /** Starts a worker, or keeps that of an earlier test. */
  async function survivor(): Promise<Program> {
    return (worker ??= await cluster.worker());
  }
  async function kill(): Promise<void> {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    worker = undefined;
  }
  /** Starts a worker that is killed at a fail point. */
  async function die(point: string): Promise<void> {
    const dying = await cluster.worker({ FAIL_POINT: point });
    expect(await dying.ended).toBe('SIGKILL');
  }

  it('during a playbook: the job fails with an explanation, and no process or file remains', async () => {
    await kill();
    worker = await cluster.worker({ JOB_ISOLATION: 'none' });
    const [id] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(async () => expect((await cluster.ledger()).get(id)).toBe(1), START_MS);
    // A playbook that still prints ends with the reader of its output. This one must survive, so it has
    // printed all.
    await eventually(async () => expect(await begunTasks(id)).toBe(2), START_MS);
    await kill();
    expect((await marked(id)).length).toBeGreaterThan(0);

    await survivor();
    const job = await cluster.becomes(id, 'failed');
    expect(job.job_explanation).toMatch(
      /^Task was marked as running but was not present in the job queue, so it has been marked as failed\. \d+ process(es)? of it (was|were) still running and ha(s|ve) been ended\.$/,
    );
    expect(await marked(id)).toEqual([]);
    expect(await workspaces()).toEqual([]);

    const figures = figuresOf([id], { failed: 1 }, await cluster.ledger());
    printFigures('worker killed in a playbook', figures);
    expect(figures).toMatchObject({ lost: 0, doubled: 0 });
  });

  it('during an isolated playbook: all its processes end with the worker, and a waiting job runs once', async () => {
    await survivor();
    const [id] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(async () => expect((await cluster.ledger()).get(id)).toBe(1), START_MS);
    expect((await marked(id)).length).toBeGreaterThan(3);
    const [next] = (await cluster.addJobs(1)) as [number];
    await kill();
    await eventually(async () => expect(await marked(id)).toEqual([]), 10_000);

    // Before a playbook, further workers die.
    for (const point of ['run-leased', 'run-prepared']) await die(point);
    await survivor();
    const job = await cluster.becomes(id, 'failed');
    expect(job.job_explanation).toBe(
      'Task was marked as running but was not present in the job queue, so it has been marked as failed.',
    );
    const { attempt } = await cluster.becomes(next, 'successful');
    // Each kill takes one attempt, and taking the run back another.
    expect(attempt).toBe(5);
    expect(await workspaces()).toEqual([]);
    const ledger = await cluster.ledger();
    expect([ledger.get(id), ledger.get(next)]).toEqual([1, 1]);
  });

  it('by SIGTERM: the running job fails with an explanation, and waiting jobs go to another worker', async () => {
    const first = await survivor();
    const [long] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(async () => expect((await cluster.ledger()).get(long)).toBe(1), START_MS);
    const [next] = (await cluster.addJobs(1)) as [number];
    const started = Date.now();
    first.child.kill('SIGTERM');
    expect(await first.ended).not.toBe('SIGKILL');
    worker = undefined;
    expect(Date.now() - started).toBeLessThan(25_000);
    const job = await cluster.job(long);
    expect(job).toMatchObject({
      status: 'failed',
      job_explanation: 'Task was canceled due to receiving a shutdown signal.',
    });
    expect(await marked(long)).toEqual([]);

    // The other worker dies after the playbook, before it stores the end: the job is not repeated.
    await die('run-finishing');
    expect((await cluster.ledger()).get(next)).toBe(1);
    await survivor();
    await cluster.becomes(next, 'failed');
    expect((await cluster.ledger()).get(next)).toBe(1);
  });

  it(
    'during a cleanup: complete batches are deleted, and another worker deletes the rest',
    async () => {
      await kill();
      const left = async () => {
        const [row] = await cluster.rows<{ runs: number; exact: boolean }>(`
        SELECT count(*)::int AS runs, (SELECT sum(total) FROM run_totals)
            = (SELECT count(*) FROM unified_jobs)
          AND (SELECT sum(event_total) FROM run_totals) = (SELECT count(*) FROM job_events) AS exact
        FROM unified_jobs WHERE name = 'old'`);
        return row;
      };
      await cluster.rows(`
      WITH old AS (
        INSERT INTO unified_jobs (type, name, status, created, finished)
        SELECT 'job', 'old', 'successful', '2020-01-01', '2020-01-01'
        FROM generate_series(1, ${OLD_RUNS})
        RETURNING id)
      INSERT INTO job_events (job_id, counter) SELECT id, n FROM old, generate_series(1, 3) n`);
      // Five attempts are used up: any other kind of run would now fail.
      await cluster.rows(`
      INSERT INTO unified_jobs (type, name, status, job_type, extra_vars, attempt)
      VALUES ('system_job', 'cleanup', 'pending', 'cleanup_jobs', '{"days": 30}', 5)`);
      await die('system-job-batch');
      const rest = await left();
      expect(rest?.exact).toBe(true);
      expect(rest?.runs).toBeGreaterThan(0);
      expect(rest?.runs).toBeLessThan(OLD_RUNS);

      const counts = [rest?.runs ?? 0];
      for (let kills = 0; kills < KILLS; kills += 1) {
        await survivor();
        const before = counts.at(-1) ?? 0;
        await eventually(async () => {
          expect((await left())?.runs).toBeLessThan(before - 1000);
        }, 2 * START_MS);
        await kill();
        const { runs = 0, exact } = (await left()) ?? {};
        expect({ exact, isOver: runs === 0 }).toEqual({ exact: true, isOver: false });
        counts.push(runs);
      }
      if (IS_DEEP)
        process.stdout.write(`    of ${OLD_RUNS} runs left at each kill: ${counts.join()}\n`);

      await survivor();
      const statuses = async () =>
        cluster.rows(`SELECT status FROM unified_jobs WHERE type = 'system_job' ORDER BY id`);
      await eventually(
        async () => expect(await statuses()).toEqual([{ status: 'successful' }]),
        CLEANUP_MS,
      );
      expect(await left()).toEqual({ runs: 0, exact: true });
    },
    CLEANUP_MS,
  );
});
