/**
 * Budget: 45 s, because two workers run a hundred jobs, and one of them is replaced.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { Cluster } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';
import type { Program } from './support/processes.js';

/** Number of jobs, more than two workers run at the same time: a fault affects pending, running and ended jobs. */
const JOBS = IS_DEEP ? 100 : 20;
const ROUNDS = IS_DEEP ? 8 : 4;

/** Many jobs with the stand-in for the runner: nothing is lost, nothing runs twice. */
describe('many jobs on two workers', () => {
  let cluster: Cluster;
  let workers: Program[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0.1, concurrency: 4 });
  });

  /** Replaces a worker that a test killed. */
  beforeEach(async () => {
    workers = workers.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const missing = Array.from({ length: 2 - workers.length }, () => cluster.worker());
    workers.push(...(await Promise.all(missing)));
  });

  afterAll(() => cluster.stop());

  /** Waits until some of the jobs have ended, so that a fault affects jobs in all states. */
  const underWay = (ids: readonly number[]) =>
    eventually(async () => {
      const [row] = await cluster.rows<{ count: number }>(
        `SELECT count(*)::int AS count FROM unified_jobs WHERE id = ANY($1) AND finished IS NOT NULL`,
        [ids],
      );
      expect(row?.count).toBeGreaterThan(JOBS / 5);
    }, 20_000);

  async function report(what: string, ids: readonly number[], timeoutMs: number): Promise<void> {
    const statuses = await cluster.over(ids, timeoutMs);
    const figures = figuresOf(ids, statuses, await cluster.ledger());
    printFigures(what, figures);
    expect(figures).toEqual({ accepted: JOBS, finished: JOBS, lost: 0, doubled: 0 });
    expect(statuses).toEqual({ successful: JOBS });
  }

  it('are shared between the workers', async () => {
    const ids = await cluster.addJobs(JOBS);
    await report('two workers', ids, 40_000);
    const holders = await cluster.rows<{ lease_holder: string }>(
      'SELECT DISTINCT lease_holder FROM unified_jobs WHERE id = ANY($1)',
      [ids],
    );
    expect(holders).toHaveLength(2);
  });

  it('complete after FLUSHALL', async () => {
    const ids = await cluster.addJobs(JOBS);
    await underWay(ids);
    await cluster.flushRedis();
    await report('FLUSHALL', ids, 60_000);
  });

  it('complete after a restart of Redis', async () => {
    const ids = await cluster.addJobs(JOBS);
    await underWay(ids);
    await cluster.killRedis();
    await sleep(1000);
    await cluster.startRedis();
    await report('Redis killed and started', ids, 60_000);
  });

  it('complete although the database repeatedly closes all connections', async () => {
    const ids = await cluster.addJobs(JOBS);
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      await sleep(randomInt(100, 600));
    }
    await report('connections ended', ids, 60_000);
    expect(workers.map(({ child }) => child.exitCode)).toEqual([null, null]);
  });

  it('complete after the death of one worker', async () => {
    const ids = await cluster.addJobs(JOBS);
    await underWay(ids);
    workers[0]?.child.kill('SIGKILL');
    const statuses = await cluster.over(ids);
    const figures = figuresOf(ids, statuses, await cluster.ledger());
    printFigures('one worker killed', figures);
    expect(figures).toEqual({ accepted: JOBS, finished: JOBS, lost: 0, doubled: 0 });
    // Only jobs that the killed worker was running have failed.
    expect(statuses.failed ?? 0).toBeLessThanOrEqual(4);
  });
});
