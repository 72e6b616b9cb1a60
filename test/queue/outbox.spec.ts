/**
 * Work survives the loss of its wake-up message, because it is a row. A message without work has no effect.
 */
import type { Queue } from 'bull';

import { BullQueuePort, type QueueJob } from '../../src/common/queue/bull-queue.port.js';
import { Outbox } from '../../src/common/queue/outbox.service.js';
import { QUEUES } from '../../src/common/queue/queue.port.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;
let outbox: Outbox;
let queue: Queue<QueueJob>;
beforeAll(async () => {
  test = await boot();
  outbox = test.app.get(Outbox, { strict: false });
  queue = test.app.get(BullQueuePort, { strict: false }).queue('deletions');
});
afterAll(() => test.close());
beforeEach(async () => {
  await queue.empty();
  await test.database.execute(sql`DELETE FROM outbox`);
});

const rows = () =>
  test.database.rows<{ subject_id: number; attempts: number; enqueued: boolean }>(sql`
    SELECT subject_id, attempts, enqueued_at IS NOT NULL AS enqueued FROM outbox ORDER BY id`);
const waiting = async (): Promise<number[]> =>
  (await queue.getWaiting()).map(({ data }) => data.subjectId).sort((a, b) => a - b);
const add = (ids: readonly number[]): Promise<void> =>
  test.database.transaction(() => outbox.add('deletions', ids));

it('the outbox adds a job to the queue only after the commit', async () => {
  await test.database.transaction(async () => {
    await outbox.add('deletions', [1, 2]);
    expect(await waiting()).toEqual([]);
  });
  await eventually(async () => expect(await waiting()).toEqual([1, 2]));
  expect(await rows()).toMatchObject([{ subject_id: 1 }, { subject_id: 2 }]);
});

it('the outbox drops entries of a rolled-back transaction', async () => {
  const failing = test.database.transaction(async () => {
    await outbox.add('deletions', [3]);
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await rows()).toEqual([]);
  expect(await waiting()).toEqual([]);
});

it('the outbox drops entries of a rolled-back savepoint, and keeps others', async () => {
  const { database } = test;
  await database.transaction(async () => {
    const undone = database.savepoint(async () => {
      await outbox.add('deletions', [8]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await outbox.add('deletions', [9]);
  });
  await eventually(async () => expect(await waiting()).toEqual([9]));
  expect(await rows()).toMatchObject([{ subject_id: 9 }]);
});

it('the outbox adds lost jobs to the queue again after their time', async () => {
  await add([4]);
  await eventually(async () => expect(await waiting()).toEqual([4]));
  await queue.empty();
  expect(await outbox.sweep()).toBe(0);
  await test.database.execute(sql`
    UPDATE outbox SET enqueued_at = now() - make_interval(secs => ${QUEUES.deletions.redeliverAfterSeconds + 1})`);
  expect(await outbox.sweep()).toBe(1);
  expect(await waiting()).toEqual([4]);
  expect(await rows()).toEqual([{ subject_id: 4, attempts: 1, enqueued: true }]);
});

it('the outbox adds nothing before its time', async () => {
  await outbox.reconcile('deletions', sql`SELECT 5 AS id, NULL AS machine`);
  await outbox.postpone('deletions', 5, 60);
  expect(await outbox.sweep()).toBe(0);
  await test.database.execute(sql`UPDATE outbox SET run_at = now()`);
  expect(await outbox.sweep()).toBe(1);
  await eventually(async () => expect(await waiting()).toEqual([5]));
});

it('the outbox removes work that is no longer needed', async () => {
  await add([7, 8]);
  await outbox.reconcile('deletions', sql`SELECT 8 AS id, NULL AS machine`);
  expect(await rows()).toMatchObject([{ subject_id: 8 }]);
});

it('the outbox postpones and removes work', async () => {
  await add([6]);
  await outbox.postpone('deletions', 6, 60);
  expect(await rows()).toEqual([{ subject_id: 6, attempts: 0, enqueued: false }]);
  expect(await outbox.sweep()).toBe(0);
  await outbox.acknowledge('deletions', 6);
  expect(await rows()).toEqual([]);
});

it('simultaneous sweepers process each row once', async () => {
  const ids = Array.from({ length: 200 }, (_none, index) => index + 1);
  await add(ids);
  await queue.empty();
  await test.database.execute(sql`UPDATE outbox SET enqueued_at = NULL`);
  const added = await Promise.all(Array.from({ length: 8 }, () => outbox.sweep()));
  expect(added.reduce((sum, one) => sum + one, 0)).toBe(200);
  await eventually(async () => expect(await waiting()).toEqual(ids));
});
