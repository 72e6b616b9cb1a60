/** Each queue has one processor, in workers only, which loses no job and leaves none behind. */
import { Logger, type INestApplicationContext } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';

import { BullQueuePort } from '../../src/common/queue/bull-queue.port.js';
import { Outbox } from '../../src/common/queue/outbox.service.js';
import { QueueProcessor } from '../../src/common/queue/queue-processor.js';
import { QueueProcessors } from '../../src/common/queue/queue-processors.service.js';
import { QUEUE_NAMES } from '../../src/common/queue/queue.port.js';
import { sql } from '../../src/database/sql.js';
import { InventoryDeletionHandler } from '../../src/inventories/inventory-deletion.handler.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;
let worker: INestApplicationContext | undefined;
beforeAll(async () => {
  test = await boot({ settings: { JOB_CONCURRENCY: '3' } });
});
afterEach(async () => {
  await worker?.close();
  worker = undefined;
  jest.restoreAllMocks();
});
afterAll(() => test.close());

/** Returns the names of the handlers that Bull has for a queue. */
function handlersOf(
  context: INestApplicationContext,
  name: (typeof QUEUE_NAMES)[number],
): string[] {
  const queue = context.get(BullQueuePort, { strict: false }).queue(name);
  return Object.keys((queue as unknown as { handlers: object }).handlers);
}

const add = (id: number): Promise<void> =>
  test.database.transaction(() => test.app.get(Outbox, { strict: false }).add('deletions', [id]));

it('Bull has one function for each queue, and only in the worker', async () => {
  worker = await bootWorker(test);
  for (const name of QUEUE_NAMES) {
    expect([name, handlersOf(worker, name)]).toEqual([name, ['__default__']]);
    expect([name, handlersOf(test.app, name)]).toEqual([name, []]);
  }
});

it.each([0, 2])('a worker with %i processors of a queue does not start', (count) => {
  const processors = QUEUE_NAMES.flatMap((name) =>
    Array.from({ length: name === 'deletions' ? count : 1 }, () =>
      Object.create(QueueProcessor.prototype, { queueName: { value: name } }),
    ),
  );
  const discovery = {
    getProviders: () => processors.map((instance: unknown) => ({ instance })),
  } as unknown as DiscoveryService;
  expect(() => new QueueProcessors(discovery).onApplicationBootstrap()).toThrow(
    `Queue deletions has ${count} processors`,
  );
});

it('the number of simultaneous runs equals the setting', async () => {
  worker = await bootWorker(test);
  const queue = worker.get(BullQueuePort, { strict: false }).queue('runs');
  const { processing } = queue as unknown as { processing: object };
  await eventually(() => {
    expect(Object.keys(processing)).toHaveLength(3);
    return Promise.resolve();
  });
});

it('failed work is logged and repeated', async () => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  worker = await bootWorker(test);
  const handler = worker.get(InventoryDeletionHandler, { strict: false });
  const handling = jest.spyOn(handler, 'handle').mockRejectedValueOnce(new Error('canary'));
  await add(101);
  await eventually(async () => {
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({ message: 'work failed', queue: 'deletions', subjectId: 101 }),
    );
    expect(await rowsOf(101)).toHaveLength(1);
  });
  await test.database.execute(sql`UPDATE outbox SET enqueued_at = NULL WHERE subject_id = 101`);
  await eventually(async () => expect(await rowsOf(101)).toEqual([]), 15_000);
  expect(handling.mock.calls).toEqual([[101], [101]]);
});

it('a worker that shuts down completes its work, and accepts no more', async () => {
  worker = await bootWorker(test);
  const handler = worker.get(InventoryDeletionHandler, { strict: false });
  let finish = (): void => undefined;
  const handling = jest
    .spyOn(handler, 'handle')
    .mockImplementation(() => new Promise((resolve) => (finish = resolve)));
  await add(102);
  await eventually(() => {
    expect(handling).toHaveBeenCalledWith(102);
    return Promise.resolve();
  });
  let closed = false;
  const closing = worker.close().then(() => (closed = true));
  await add(103);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(closed).toBe(false);
  finish();
  await closing;
  worker = undefined;
  expect(handling).toHaveBeenCalledTimes(1);
  expect(await rowsOf(103)).toHaveLength(1);
});

const rowsOf = (id: number) =>
  test.database.rows(sql`SELECT id FROM outbox WHERE subject_id = ${id}`);
