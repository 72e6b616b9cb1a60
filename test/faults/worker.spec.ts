import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { baseKey, MARK_VARIABLE } from '../../src/execution/runner/workspace.js';
import { eventually } from '../support/eventually.js';
import { Cluster, noting } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';
import { processesWith } from './support/processes.js';

/** For a worker and its Ansible to start, which takes many times as long on a busy machine as alone. */
const START_MS = 60_000;
/** No test lasts as long: whatever dies does so in the middle. */
const LONG_S = 600;

/** Real `ansible-runner`, real playbooks: what is left of a run when its worker dies. */
describe('a worker that dies', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start();
    const files = join(cluster.folder, 'data', 'projects', 'demo');
    await writeFile(join(files, 'long.yml'), noting(join(cluster.folder, 'ledger'), LONG_S));
  });

  afterAll(() => cluster.stop());

  const folder = () => join(cluster.folder, 'data', 'workspaces');
  /** Other tests run beside this one, and their runs have the same numbers. */
  const marked = (id: number) => processesWith(`${MARK_VARIABLE}=${id}:1:${baseKey(folder())}`);
  const begunTasks = async (id: number) => {
    const text = `SELECT count(*)::int AS tasks FROM job_events
      WHERE job_id = $1 AND event = 'playbook_on_task_start'`;
    const [row] = await cluster.rows<{ tasks: number }>(text, [id]);
    return row?.tasks;
  };
  const workspaces = () => readdir(folder()).catch(() => []);

  it('in the middle of a playbook: the job fails with the reason, nothing of it is left', async () => {
    const first = await cluster.worker({ JOB_ISOLATION: 'none' });
    const [id] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(
      async () => expect(await cluster.ledger()).toEqual(new Map([[id, 1]])),
      START_MS,
    );
    // A playbook that has more to say ends with the reader of its output; this one must stay.
    await eventually(async () => expect(await begunTasks(id)).toBe(2), START_MS);
    first.child.kill('SIGKILL');
    await first.ended;
    expect((await marked(id)).length).toBeGreaterThan(0);

    const second = await cluster.worker();
    const job = await cluster.becomes(id, 'failed');
    expect(job.job_explanation).toMatch(
      /^Task was marked as running but was not present in the job queue, so it has been marked as failed\. \d+ process(es)? of it (was|were) still running and ha(s|ve) been ended\.$/,
    );
    expect(await marked(id)).toEqual([]);
    expect(await workspaces()).toEqual([]);

    const [next] = (await cluster.addJobs(1)) as [number];
    await cluster.becomes(next, 'successful');
    const statuses = await cluster.over([id, next], 1000);
    const figures = figuresOf([id, next], statuses, await cluster.ledger());
    printFigures('worker killed in a playbook', figures);
    expect(figures).toMatchObject({ lost: 0, doubled: 0 });
    second.child.kill('SIGTERM');
    await second.ended;
  });

  it('in the middle of an isolated playbook: everything of it ends with the worker', async () => {
    const first = await cluster.worker();
    const [id] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(async () => expect((await cluster.ledger()).get(id)).toBe(1), START_MS);
    expect((await marked(id)).length).toBeGreaterThan(3);
    first.child.kill('SIGKILL');
    await first.ended;
    await eventually(async () => expect(await marked(id)).toEqual([]), 10_000);

    const second = await cluster.worker();
    const job = await cluster.becomes(id, 'failed');
    expect(job.job_explanation).toBe(
      'Task was marked as running but was not present in the job queue, so it has been marked as failed.',
    );
    expect(await workspaces()).toEqual([]);
    expect((await cluster.ledger()).get(id)).toBe(1);
    second.child.kill('SIGTERM');
    await second.ended;
  });

  it.each(['run-leased', 'run-prepared'] as const)(
    'before the playbook (%s): the job runs once, on another worker',
    async (point) => {
      const first = await cluster.worker({ FAIL_POINT: point });
      const [id] = (await cluster.addJobs(1)) as [number];
      expect(await first.ended).toBe('SIGKILL');
      const second = await cluster.worker();
      const job = await cluster.becomes(id, 'successful');
      expect(job.attempt).toBe(3);
      expect((await cluster.ledger()).get(id)).toBe(1);
      second.child.kill('SIGTERM');
      await second.ended;
    },
  );

  it('after the playbook, before its end is stored: failed, and not run again', async () => {
    const first = await cluster.worker({ FAIL_POINT: 'run-finishing' });
    const [id] = (await cluster.addJobs(1)) as [number];
    expect(await first.ended).toBe('SIGKILL');
    const second = await cluster.worker();
    await cluster.becomes(id, 'failed');
    expect((await cluster.ledger()).get(id)).toBe(1);
    second.child.kill('SIGTERM');
    await second.ended;
  });

  it('told to leave: the running job fails with the reason, the waiting ones go to the next', async () => {
    const first = await cluster.worker({ JOB_CONCURRENCY: '1' });
    const [long] = (await cluster.addJobs(1, { playbook: 'long.yml' })) as [number];
    await eventually(async () => expect((await cluster.ledger()).get(long)).toBe(1), START_MS);
    const [next] = (await cluster.addJobs(1)) as [number];
    const started = Date.now();
    first.child.kill('SIGTERM');
    expect(await first.ended).not.toBe('SIGKILL');
    expect(Date.now() - started).toBeLessThan(25_000);
    const job = await cluster.job(long);
    expect(job).toMatchObject({
      status: 'failed',
      job_explanation: 'Task was canceled due to receiving a shutdown signal.',
    });
    expect(await marked(long)).toEqual([]);
    const second = await cluster.worker();
    await cluster.becomes(next, 'successful');
    expect((await cluster.ledger()).get(next)).toBe(1);
    second.child.kill('SIGTERM');
    await second.ended;
  });
});
