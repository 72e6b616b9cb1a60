/**
 * Budget: 45 s, because a worker is killed and another one starts. No cheaper test sees that the entries
 * of a dead worker are sent.
 */
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { Cluster } from './support/cluster.js';
import { printFigures } from './support/figures.js';

const ENTRIES = 10_000;

it('a worker killed after sending and before recording sends all activity entries in order', async () => {
  const sink = await HttpSink.start();
  const cluster = await Cluster.start({ fakeSeconds: 0 });
  try {
    await cluster.rows(
      `WITH added AS (
         INSERT INTO activity_stream (operation, object1, object1_name, changes)
         SELECT 'create', 'team', 'team ' || n, '{}' FROM generate_series(1, $1::int) n RETURNING id)
       INSERT INTO activity_deliveries (entry_id) SELECT id FROM added`,
      [ENTRIES],
    );
    const environment = {
      OUTBOUND_ALLOW: '127.0.0.0/8',
      LOG_AGGREGATOR_ENABLED: '1',
      LOG_AGGREGATOR_TYPE: 'other',
      LOG_AGGREGATOR_HOST: sink.url,
      LOG_AGGREGATOR_LOGGERS: 'activity_stream',
    };
    const first = await cluster.worker({ ...environment, FAIL_POINT: 'activity-sent' });
    expect(await first.ended).toBe('SIGKILL');
    const sentBefore = sink.requests.length;
    expect(sentBefore).toBe(1);
    // The lease of the killed worker would expire after 45 s.
    await cluster.rows('UPDATE log_forwarding SET lease_until = now()');
    const second = await cluster.worker(environment);
    await eventually(async () => {
      expect(await cluster.rows('SELECT 1 FROM activity_deliveries LIMIT 1')).toEqual([]);
    }, 60_000);
    const ids = sink.requests.flatMap(({ body }) =>
      (JSON.parse(body) as { id: number }[]).map(({ id }) => id),
    );
    const rows = await cluster.rows<{ id: number }>('SELECT id FROM activity_stream ORDER BY id');
    const expected = rows.map(({ id }) => id);
    // The batch of the dead worker arrives twice, everything else once.
    expect(ids.slice(-expected.length)).toEqual(expected);
    printFigures('worker killed after sending activity entries', {
      accepted: expected.length,
      finished: new Set(ids).size,
      lost: expected.filter((id) => !ids.includes(id)).length,
      doubled: ids.length - new Set(ids).size,
    });
    second.child.kill('SIGTERM');
    await second.ended;
  } finally {
    await cluster.stop();
    await sink.close();
  }
});
