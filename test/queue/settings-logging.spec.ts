/**
 * Records reach a log aggregator: the wire format by rsyslog, a program of others, and order and loss by
 * workers that send at the same time.
 *
 * Budget: 60 s, because the aggregator is unavailable until a worker has failed, and 10,000 entries follow. In
 * deep tests it is unavailable for a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { INestApplicationContext } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import { JsonLogger } from '../../src/logging/json-logger.js';
import { LogLines } from '../../src/logging/log-lines.service.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { Rsyslog, type SyslogMessage } from '../support/fakes/rsyslog.js';

const ENTRIES = 10_000;
/** Batches in which the entries are written, and the time that they take together. */
const BATCHES = IS_DEEP ? 100 : 1;
const AWAY_MS = IS_DEEP ? 60_000 : 0;

let test: TestApp;
let syslog: Rsyslog;
beforeAll(async () => {
  test = await boot();
  syslog = await Rsyslog.create();
  await syslog.run();
});
afterAll(async () => {
  await syslog.close();
  await test.close();
});
afterEach(async () => {
  await test.as.superuser.delete('settings/logging/').expect(204);
  await test.database.execute(sql`DELETE FROM activity_deliveries`);
});

async function enable(values: object = {}): Promise<void> {
  const changes = {
    LOG_AGGREGATOR_ENABLED: true,
    LOG_AGGREGATOR_TYPE: 'syslog',
    LOG_AGGREGATOR_HOST: '127.0.0.1',
    LOG_AGGREGATOR_PORT: syslog.port,
    LOG_AGGREGATOR_PROTOCOL: 'tcp',
    LOG_AGGREGATOR_VERIFY_CERT: false,
    ...values,
  };
  await test.as.superuser.patch('settings/logging/', changes).expect(200);
  await test.database.execute(sql`DELETE FROM activity_deliveries`);
}

/** Writes activity entries as changes of objects do. @returns their ids */
async function addEntries(count: number): Promise<number[]> {
  const rows = await test.database.rows<{ id: number }>(sql`
    WITH added AS (
      INSERT INTO activity_stream (operation, object1, object1_id, object1_name, changes)
      SELECT 'create', 'team', n, 'team ' || n, '{}' FROM generate_series(1, ${count}::int) n
      RETURNING id)
    INSERT INTO activity_deliveries (entry_id) SELECT id FROM added RETURNING entry_id AS id`);
  return rows.map(({ id }) => id);
}

const idsOf = (messages: readonly SyslogMessage[]): number[] =>
  messages
    .filter(({ source }) => source === 'activity_stream')
    .map(({ text }) => (JSON.parse(text) as { id: number }).id);

describe('activity entries', () => {
  const workers: INestApplicationContext[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 2; i++) workers.push(await bootWorker(test));
  });
  afterAll(async () => {
    for (const worker of workers) await worker.close();
  });

  it('wait while the aggregator is unavailable, and arrive once and in order afterwards', async () => {
    const away = await Rsyslog.create();
    await enable({ LOG_AGGREGATOR_PORT: away.port });
    const ids: number[] = [];
    for (let batch = 0; batch < BATCHES; batch++) {
      ids.push(...(await addEntries(ENTRIES / BATCHES)));
      await sleep(AWAY_MS / BATCHES);
    }
    // A worker has found that no process listens.
    await eventually(async () => {
      const holders = await test.database.rows(
        sql`SELECT 1 FROM log_forwarding WHERE lease_until > now()`,
      );
      expect(holders).toHaveLength(1);
    });
    await away.run();
    await eventually(async () => {
      const left = await test.database.rows(sql`SELECT 1 FROM activity_deliveries LIMIT 1`);
      expect(left).toEqual([]);
    }, 60_000);
    await eventually(async () => expect(idsOf(await away.messages())).toEqual(ids));
    expect(ids).toHaveLength(ENTRIES);
    const [first] = await away.messages();
    expect(first).toMatchObject({
      application: 'automation-controller',
      severity: 'info',
      facility: 'local0',
    });
    await away.close();
  });

  it.each([
    ['tls', () => syslog.tlsPort],
    ['udp', () => syslog.port],
  ])('arrive by %s', async (protocol, port) => {
    await enable({ LOG_AGGREGATOR_PROTOCOL: protocol, LOG_AGGREGATOR_PORT: port() });
    const ids = await addEntries(3);
    await eventually(
      async () => expect(idsOf(await syslog.messages()).slice(-3)).toEqual(ids),
      20_000,
    );
  });
});

describe('log lines', () => {
  let sink: HttpSink;
  let worker: INestApplicationContext;
  let lines: LogLines;
  const logger = new JsonLogger('info');
  beforeAll(async () => {
    sink = await HttpSink.start();
    worker = await bootWorker(test);
    lines = worker.get(LogLines, { strict: false });
    jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await worker.close();
    await sink.close();
  });

  const received = (): Record<string, unknown>[] =>
    sink.requests.flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[]);

  it('are sent above the configured level, and dropped ones are counted', async () => {
    await enable({
      LOG_AGGREGATOR_TYPE: 'other',
      LOG_AGGREGATOR_PROTOCOL: 'https',
      LOG_AGGREGATOR_HOST: sink.url,
      LOG_AGGREGATOR_PORT: null,
      LOG_AGGREGATOR_LEVEL: 'WARNING',
      LOG_AGGREGATOR_ACTION_QUEUE_SIZE: 2,
    });
    lines.start(logger);
    await eventually(() => expect(lines.wants('awx')).toBe(true));
    logger.log('not severe');
    logger.warn({ message: 'first', password: 'a secret' }, 'Place');
    logger.error('second', 'Live');
    for (let i = 0; i < 3; i++) logger.error('too many');
    await eventually(() => expect(received()).toHaveLength(2), 10_000);
    expect(received()).toMatchObject([
      { level: 'WARNING', message: 'first', password: '***', logger_name: 'awx' },
      { level: 'ERROR', message: 'second', logger_name: 'awx.analytics.broadcast_websocket' },
    ]);
    const { body } = await test.as.superuser.get('metrics/').expect(200);
    const { samples } = body.controller_log_records_dropped_total;
    expect(samples).toEqual([{ labels: { source: 'buffer' }, value: 3 }]);
    lines.add('job_events', 'Event', { counter: 1 });
    lines.add('system_tracking', 'Facts', {});
    await eventually(() => expect(received()).toHaveLength(4), 10_000);
    expect(received()[2]).toMatchObject({ logger_name: 'awx.analytics.job_events', counter: 1 });
  });
});
