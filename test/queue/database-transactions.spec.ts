/** Statements that a transaction sends without waiting in between are pipelined, and fail together. */
import type { Socket } from 'node:net';

import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';

import { ActivityRecorder } from '../../src/common/activity/activity.js';
import { dataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { settleAll } from '../../src/database/settle-all.js';
import { sqlState } from '../../src/database/sql-state.js';
import { sql } from '../../src/database/sql.js';
import { InstallationFact } from '../../src/settings/setting.entity.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
  await test.database.execute(sql`CREATE TABLE notes (text text UNIQUE)`);
});
afterAll(() => test.close());
beforeEach(() => test.database.execute(sql`DELETE FROM notes`));

const insert = (text: string) => test.database.execute(sql`INSERT INTO notes VALUES (${text})`);
const notes = async (): Promise<string[]> =>
  (await test.database.rows<{ text: string }>(sql`SELECT text FROM notes ORDER BY 1`)).map(
    ({ text }) => text,
  );
const UNIQUE_VIOLATION = '23505';
const stateOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => 'nothing failed',
    (error: unknown) => sqlState(error),
  );

it('a transaction executes simultaneous statements in order', async () => {
  const { database } = test;
  const [, seen] = await database.transaction(() => settleAll([insert('first'), notes()]));
  expect(seen).toEqual(['first']);
});

it('a transaction includes statements of injected repositories', async () => {
  const { app, database } = test;
  const token = getRepositoryToken(InstallationFact);
  const facts = app.get<Repository<InstallationFact>>(token, { strict: false });
  const failing = database.transaction(async () => {
    await facts.insert({ name: 'spec', value: '' });
    expect(await facts.existsBy({ name: 'spec' })).toBe(true);
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  expect(await facts.existsBy({ name: 'spec' })).toBe(false);
});

it('a transaction fails with a deferred statement, and is rolled back', async () => {
  const { database } = test;
  const failing = database.transaction(async () => {
    await insert('one');
    await database.deferToCommit(insert('one'));
  });
  expect(await stateOf(failing)).toBe(UNIQUE_VIOLATION);
  expect(await notes()).toEqual([]);
});

it('a transaction reports the first error, not its consequences', async () => {
  const { database } = test;
  const failing = database.transaction(async () => {
    await database.deferToCommit(insert('two'));
    await database.deferToCommit(insert('two'));
    await notes();
  });
  expect(await stateOf(failing)).toBe(UNIQUE_VIOLATION);
});

it.each(['heard', 'deferToCommit'])(
  'a transaction reports an error that is known late, %s',
  async (how) => {
    const { database } = test;
    const failing = database.transaction(async () => {
      await database.deferToCommit(insert('two'));
      const late = insert('two').catch(async (error: unknown) => {
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        throw error;
      });
      await settleAll([
        how === 'heard' ? late : database.deferToCommit(late),
        database.deferToCommit(notes()),
        notes(),
      ]);
    });
    expect(await stateOf(failing)).toBe(UNIQUE_VIOLATION);
  },
);

it('a savepoint rolls back only its own deferred statements', async () => {
  const { database } = test;
  await database.transaction(async () => {
    await database.deferToCommit(insert('kept'));
    const undone = database.savepoint(async () => {
      await database.deferToCommit(insert('undone'));
      await database.deferToCommit(insert('kept'));
    });
    expect(await stateOf(undone)).toBe(UNIQUE_VIOLATION);
    await database.deferToCommit(insert('kept, too'));
  });
  expect(await notes()).toEqual(['kept', 'kept, too']);
});

it.each([
  ['the first entries', []],
  ['later entries', ['before']],
])('a rollback to a savepoint also removes activity entries: %s', async (_which, before) => {
  const { app, database } = test;
  const activity = app.get(ActivityRecorder, { strict: false });
  const record = (name: string) =>
    activity.record({
      operation: 'create',
      object1: { type: 'team', id: 1, name },
      changes: { name },
    });
  await database.execute(sql`DELETE FROM activity_stream`);
  await database.transaction(async () => {
    for (const name of before) record(name);
    const undone = database.savepoint(async () => {
      record('undone');
      throw new Error('refused');
    });
    await expect(undone).rejects.toThrow('refused');
    record('after');
  });
  const rows = await database.rows<{ name: string }>(sql`
    SELECT changes ->> 'name' AS name FROM activity_stream ORDER BY id`);
  expect(rows.map(({ name }) => name)).toEqual([...before, 'after']);
});

it('a transaction continues with prepared statements after an error', async () => {
  const { database } = test;
  const prepared = (text: string) =>
    database.preparedRows(sql`INSERT INTO notes (text) VALUES (${text}) RETURNING text`);
  for (const text of ['three', 'three', 'four']) {
    await database
      .transaction(() => settleAll([insert(text), prepared(text)]))
      .catch((error: unknown) => expect(sqlState(error)).toBe(UNIQUE_VIOLATION));
  }
  expect(await prepared('five')).toEqual([{ text: 'five' }]);
});

it('a transaction waits for all simultaneous statements before it ends', async () => {
  const { database } = test;
  let isAsked = false;
  const slow = async () => {
    await database.rows(sql`SELECT pg_sleep(0.1)`);
    await notes();
    isAsked = true;
  };
  const failing = database.transaction(() =>
    settleAll([Promise.reject(new Error('at once')), slow()]),
  );
  await expect(failing).rejects.toThrow('at once');
  expect(isAsked).toBe(true);
});

it('a transaction refuses statements after its end', async () => {
  const { database } = test;
  let late = Promise.resolve<unknown>('not asked');
  await database.transaction(async () => {
    await insert('six');
    late = new Promise((resolve) => setTimeout(resolve, 50)).then(notes);
    late.catch(() => undefined);
  });
  await expect(late).rejects.toThrow('The transaction has ended');
});

it('clients of their own do not take connections from other statements', async () => {
  const { database } = test;
  await database.withClient(async (client) => {
    await client.query('SELECT pg_advisory_lock(1)');
    const waiting = Array.from({ length: 25 }, () =>
      database.withClient((other) => other.query('SELECT pg_advisory_lock_shared(1)')),
    );
    await insert('meanwhile');
    await client.query('SELECT pg_advisory_unlock(1)');
    await Promise.all(waiting);
  });
  expect(await notes()).toEqual(['meanwhile']);
});

/** Runs `work` with a database that has one connection. */
async function withConnection(
  timeout: number,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const { url } = test.database.dataSource.options as { url: string };
  const settings = { DATABASE_URL: url, DATABASE_POOL_SIZE: 1, STATEMENT_TIMEOUT_MS: timeout };
  const source = await new DataSource(dataSourceOptions(settings)).initialize();
  try {
    await work(new Database(source));
  } finally {
    await source.destroy();
  }
}

it('statements of a deletion have more time, as an object can have a long history', async () => {
  // Longer than the timeouts of PostgreSQL and of the driver.
  const sleep = sql`SELECT pg_sleep(2.2)`;
  await withConnection(100, async (database) => {
    await database.transaction(async () => {
      await database.prepareDeletion();
      await database.execute(sleep);
    });
    expect(await stateOf(database.execute(sleep))).toBe('57014');
  });
  await withConnection(600_000, async (database) => {
    const [row] = await database.transaction(async () => {
      await database.prepareDeletion();
      return database.rows<{ statement_timeout: string }>(sql`SHOW statement_timeout`);
    });
    expect(row).toEqual({ statement_timeout: '10min' });
  });
});

it('a statement ends with its connection, so that a stopped process keeps no locks', async () => {
  const sleep = 'SELECT pg_sleep(61)';
  const broken = test.database.withClient(async (client) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    setTimeout(() => stream.destroy(), 100);
    await client.query(sleep);
  });
  await expect(broken).rejects.toThrow('Connection terminated');
  await eventually(async () => {
    const active = sql`SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = ${sleep}`;
    expect(await test.database.rows(active)).toEqual([]);
  });
});

it('a connection to a server that became a standby is replaced', async () => {
  await withConnection(0, async (database) => {
    const write = (text: string) =>
      database.transaction(() => database.execute(sql`INSERT INTO notes VALUES (${text})`));
    await database.execute(sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`);
    expect(await stateOf(write('to the standby'))).toBe('25006');
    await write('to the new primary');
  });
  expect(await notes()).toEqual(['to the new primary']);
});

it('PostgreSQL ends the connections of a machine that is gone, and with them its locks, within a minute', async () => {
  const rows = await test.database.rows<{ name: string; setting: string }>(sql`
    SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_keepalives_%'`);
  const of = (name: string) =>
    Number(rows.find((row) => row.name === `tcp_keepalives_${name}`)?.setting);
  // 0 is the default of the system: two hours.
  expect(of('idle')).toBeGreaterThan(0);
  expect(of('idle') + of('interval') * of('count')).toBeLessThanOrEqual(60);
});
