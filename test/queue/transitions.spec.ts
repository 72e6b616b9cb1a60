import { sql } from '../../src/database/sql.js';
import { HostFactsRepository } from '../../src/inventories/host-facts.repository.js';
import {
  JobEventsRepository,
  type StoredEvent,
} from '../../src/runs/events/job-events.repository.js';
import { leaseOf, RunLeasesRepository } from '../../src/runs/run-leases.repository.js';
import { UnifiedJob } from '../../src/runs/unified-job.entity.js';
import { ActiveRun, type ActiveRuns } from '../../src/execution/worker/active-runs.service.js';
import { Leases } from '../../src/execution/worker/leases.service.js';
import { countQueries } from '../support/queries.js';
import { RunsDatabase } from './runs-database.js';
import { HostFacts } from '../../src/inventories/host.entity.js';
import { JobEvent } from '../../src/runs/events/job-event.entity.js';

/** Transitions of runs on a real database: fencing, times, and the status that the template shows. */
describe('the transitions of runs', () => {
  let runs: RunsDatabase;

  beforeAll(async () => {
    runs = await RunsDatabase.open();
  });
  afterAll(() => runs.close());
  beforeEach(() => runs.reset());

  const template = (id: number) => runs.row('unified_job_templates', id);

  it('move a run from launch to end, and update its template', async () => {
    const owner = await runs.template();
    const id = await runs.job(owner, { start_args: 'sealed' });
    const row = { id, type: 'job', status: 'pending' as const, unified_job_template_id: owner };
    await runs.database.transaction(() => runs.transitions.created([row]));
    expect(await template(owner)).toMatchObject({ status: 'pending', current_job_id: id });
    await runs.transitions.move([id], { from: ['pending'], to: 'waiting' });
    await runs.transitions.move([id], { from: ['waiting'], to: 'running' });
    expect(await template(owner)).toMatchObject({ status: 'running', current_job_id: id });
    expect((await runs.run(id)).started).not.toBeNull();
    await runs.transitions.move([{ id, explanation: 'It broke.' }], {
      from: ['running'],
      to: 'failed',
    });
    expect(await runs.run(id)).toMatchObject({
      status: 'failed',
      failed: true,
      job_explanation: 'It broke.',
      start_args: '',
      event_processing_finished: true,
    });
    const after = await template(owner);
    expect(after).toMatchObject({ status: 'failed', current_job_id: null, last_job_id: id });
    expect(after.last_job_failed).toBe(true);
    expect(after.last_job_run).toBe((await runs.run(id)).finished);
    const statuses = runs.signals.changes.map(({ status }) => status);
    expect(statuses).toEqual(['pending', 'waiting', 'running', 'failed']);
  });

  it.each([
    ['failed', 'ok', false],
    ['canceled', 'ok', false],
    ['successful', 'successful', true],
  ] as const)('of a sync inside a run: %s, its project is %s', async (to, status, isLast) => {
    const project = await runs.project({ status: 'ok' });
    const id = await runs.update(project, { launch_type: 'sync', status: 'new' });
    const row = { id, type: 'project_update', unified_job_template_id: project };
    await runs.database.transaction(() =>
      runs.transitions.created([{ ...row, status: 'new', launch_type: 'sync' }]),
    );
    await runs.transitions.move([id], { from: ['new'], to: 'running' });
    expect(await template(project)).toMatchObject({ status: 'ok', current_job_id: null });
    await runs.transitions.move([id], { from: ['running'], to });
    const last = isLast ? id : null;
    expect(await template(project)).toMatchObject({ status, last_job_id: last });
  });

  it('store no start, events or facts of a worker that lost its lease', async () => {
    const id = await runs.job(null, { status: 'running', attempt: 2 });
    const leases = new RunLeasesRepository(runs.database.manager.getRepository(UnifiedJob));
    const started = { args: '[]', cwd: '/', revision: '', isolation: 'none', env: '{}' };
    const facts = new HostFactsRepository(runs.database.manager.getRepository(HostFacts));
    const events = new JobEventsRepository(runs.database.manager.getRepository(JobEvent));
    const event: StoredEvent = {
      ...{ uuid: 'u', parentUuid: '', counter: 1, event: 'verbose', eventDisplay: '' },
      ...{ eventLevel: 0, failed: false, changed: false, hostName: '', playbook: '', play: '' },
      ...{ task: '', role: '', stdout: '', startLine: 0, endLine: 1, verbosity: 0, eventData: {} },
      ...{ created: '2026-01-01T00:00:00Z', dataText: '{}' },
    };
    for (const attempt of [1, 2]) {
      const isHeld = attempt === 2;
      expect(await leases.begin({ id, attempt }, started)).toBe(isHeld);
      expect(await facts.store(leaseOf({ id, attempt }), 1, [])).toBe(isHeld);
      expect(await events.store({ id, attempt }, [event])).toBe(isHeld);
      expect(await events.tree(id, 10)).toHaveLength(isHeld ? 1 : 0);
    }
  });

  it('mark the ancestors of a failed event, but not a chain that the run made up', async () => {
    const id = await runs.job(null);
    const events = new JobEventsRepository(runs.database.manager.getRepository(JobEvent));
    await runs.database.execute(sql`
      INSERT INTO job_events (job_id, counter, uuid, parent_uuid, event, failed)
      SELECT ${id}, n, 'u' || n, 'u' || n - 1, 'runner_on_failed', n = 20000
      FROM generate_series(1, 20000) n`);
    await events.propagate(id);
    const marked = await runs.database.rows<{ counter: number }>(sql`
      SELECT counter FROM job_events WHERE job_id = ${id} AND failed ORDER BY counter DESC`);
    expect(marked.map(({ counter }) => counter)).toEqual(
      Array.from({ length: 9 }, (_, step) => 20_000 - step),
    );
  });

  it('read the events of a run few times to mark the ancestors of changes', async () => {
    const { database } = runs;
    const id = await runs.job(null, { status: 'running', attempt: 1 });
    await database.execute(sql`
      INSERT INTO job_events (job_id, counter, uuid, parent_uuid, changed)
      SELECT ${id}::bigint, n, 'uuid-' || n, CASE WHEN n = 1 THEN '' WHEN n < 4 THEN 'uuid-' || n - 1
        ELSE 'uuid-3' END, n > 3
      FROM generate_series(1, 2000) n`);
    await database.execute(sql`ANALYZE job_events`);
    const events = new JobEventsRepository(database.manager.getRepository(JobEvent));
    const read = async (): Promise<number> => {
      const row = await database.row<{ total: number }>(sql`
        SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS total
        FROM pg_stat_xact_user_tables WHERE relname LIKE 'job_events%'`);
      return row?.total ?? NaN;
    };
    await database.transaction(async () => {
      const before = await read();
      await events.propagate(id);
      expect((await read()) - before).toBeLessThan(3 * 2000);
    });
    const marked = await database.rows(sql`
      SELECT counter FROM job_events WHERE job_id = ${id} AND changed ORDER BY counter LIMIT 4`);
    expect(marked).toEqual([1, 2, 3, 4].map((counter) => ({ counter })));
  });

  it('do not change a run with another lease or status', async () => {
    const id = await runs.job(null, { status: 'running', attempt: 2 });
    const { transitions } = runs;
    expect(
      await transitions.move([{ id, attempt: 1 }], { from: ['running'], to: 'failed' }),
    ).toEqual([]);
    expect(await transitions.move([id], { from: ['waiting'], to: 'running' })).toEqual([]);
    expect(await runs.run(id)).toMatchObject({ status: 'running', failed: false });
    expect(runs.signals.changes).toEqual([]);
  });

  it('permit one of two workers to start the same run', async () => {
    const id = await runs.job(null, { status: 'waiting' });
    const take = () => runs.transitions.move([id], { from: ['waiting'], to: 'running' });
    const taken = await Promise.all([take(), take()]);
    expect(taken.map(({ length }) => length).sort()).toEqual([0, 1]);
  });

  it('refuse invalid steps', async () => {
    const id = await runs.job(null, { status: 'successful' });
    await expect(
      runs.transitions.move([id], { from: ['successful'], to: 'running' }),
    ).rejects.toThrow('A run does not go from successful to running');
  });

  it('show the newer run of a template while an older one ends', async () => {
    const owner = await runs.template();
    const [first, second] = [
      await runs.job(owner, { status: 'running' }),
      await runs.job(owner, { status: 'waiting' }),
    ];
    await runs.transitions.move([second], { from: ['waiting'], to: 'running' });
    await runs.transitions.move([first], { from: ['running'], to: 'successful' });
    expect(await template(owner)).toMatchObject({
      status: 'running',
      current_job_id: second,
      last_job_id: first,
    });
  });

  it('cancel waiting runs immediately and request the cancellation of others', async () => {
    const made = ['new', 'pending', 'waiting', 'running', 'successful'];
    const ids = [];
    for (const status of made) ids.push(await runs.job(null, { status }));
    expect((await runs.transitions.cancel(ids)).sort()).toEqual(ids.slice(0, 4).sort());
    const statuses = await Promise.all(ids.map(async (id) => (await runs.run(id)).status));
    expect(statuses).toEqual(['canceled', 'canceled', 'canceled', 'running', 'successful']);
    expect(await runs.run(ids[3]!)).toMatchObject({ cancel_requested: true });
    expect((await runs.run(ids[3]!)).canceled_on).not.toBeNull();
    expect(runs.signals.cancels).toEqual([ids[3]]);
  });

  it('cancel a run that its worker releases after a request to cancel', async () => {
    const held = { status: 'running', attempt: 1 };
    const [canceled, released] = [await runs.job(null, held), await runs.job(null, held)];
    const { database, transitions } = runs;
    await transitions.cancel([canceled]);
    const unused = {} as never;
    const leases = new Leases(database, transitions, unused, unused, unused, unused);
    for (const id of [canceled, released]) await leases.release(new ActiveRun(id, 1));
    expect(await runs.run(canceled)).toMatchObject({ status: 'canceled' });
    expect(await runs.run(released)).toMatchObject({ status: 'pending' });
  });

  it('end a run whose results take longer to store than a statement may', async () => {
    const { database, transitions } = runs;
    const id = await runs.job(null, { status: 'running', attempt: 1 });
    const unused = {} as never;
    const leases = new Leases(database, transitions, unused, unused, unused, {
      isStopping: false,
    } as ActiveRuns);
    let attempts = 0;
    const write = async (): Promise<void> => {
      attempts += 1;
      await database.execute(sql`SET LOCAL statement_timeout = '20ms'`);
      await database.execute(sql`SELECT pg_sleep(5)`);
    };
    await leases.finish(new ActiveRun(id, 1), { status: 'successful', write });
    expect(attempts).toBe(3);
    expect(await runs.run(id)).toMatchObject({
      status: 'error',
      job_explanation:
        'The results of the run could not be stored, because a statement took longer than STATEMENT_TIMEOUT_MS.',
    });
  });

  it('need the same number of statements for any number of runs', async () => {
    const counts: number[] = [];
    for (const count of [1, 50]) {
      const ids: number[] = [];
      for (let made = 0; made < count; made++) {
        ids.push(await runs.job(await runs.template(), { status: 'waiting' }));
      }
      counts.push(
        await countQueries(runs.database, async () => {
          const moved = await runs.transitions.move(ids, { from: ['waiting'], to: 'running' });
          expect(moved).toHaveLength(count);
        }),
      );
    }
    expect(counts[0]).toBe(counts[1]);
    // One statement for the runs and one for their templates. Runs without a webhook report no status to a
    // code host.
    expect(counts[0]).toBe(2);
  });

  it('measure the duration of a run by the clock of the database', async () => {
    const id = await runs.job(null, { status: 'running' });
    await runs.database.execute(sql`
      UPDATE unified_jobs SET started = now() - interval '90 seconds' WHERE id = ${id}`);
    await runs.transitions.move([id], { from: ['running'], to: 'successful' });
    expect(Number((await runs.run(id)).elapsed)).toBeCloseTo(90, 0);
  });
});
