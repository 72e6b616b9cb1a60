/**
 * Budget: 30 s, because workers start, are killed and start again.
 */
import { eventually } from '../support/eventually.js';
import { Cluster } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';

/** Workers are killed while they launch runs of schedules. */
describe('a worker that dies while it launches schedules', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0 });
  });

  afterAll(() => cluster.stop());

  /** Schedules of a template whose next occurrence is some hours ago. */
  const addDue = async (count: number): Promise<void> => {
    await cluster.rows('UPDATE unified_job_templates SET allow_simultaneous = true WHERE id = 2');
    await cluster.rows(
      `INSERT INTO schedules (name, rrule, unified_job_template_id, next_run)
       SELECT 'schedule ' || n, 'DTSTART:20200101T000000Z RRULE:FREQ=YEARLY;INTERVAL=1', 2,
         '2021-01-01T00:00:00Z' FROM generate_series(1, $1::int) n`,
      [count],
    );
  };
  const runs = () =>
    cluster.rows<{ id: number; schedule_id: number }>(
      'SELECT id, schedule_id FROM unified_jobs ORDER BY id',
    );

  it('skips no occurrence and launches none twice', async () => {
    await addDue(5);
    const dying = await cluster.worker({ FAIL_POINT: 'schedule-launched' });
    expect(await dying.ended).toBe('SIGKILL');
    expect(await runs()).toEqual([]);
    await Promise.all([cluster.worker(), cluster.worker()]);
    await eventually(async () => expect(await runs()).toHaveLength(5), 20_000);
    const ids = (await runs()).map(({ id }) => id);
    const figures = figuresOf(ids, await cluster.over(ids), await cluster.ledger());
    printFigures('worker killed while it launches schedules', figures);
    expect(figures).toEqual({ accepted: 5, finished: 5, lost: 0, doubled: 0 });
    expect(new Set((await runs()).map((run) => run.schedule_id)).size).toBe(5);
    const due = await cluster.rows('SELECT 1 FROM schedules WHERE next_run <= now()');
    expect(due).toEqual([]);
  });
});
