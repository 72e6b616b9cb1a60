import type { ActivityDeliveriesRepository } from '../activity/activity-deliveries.repository.js';
import { ActivityForwarder } from './activity-forwarder.service.js';
import type { LogForwardingRepository } from './log-forwarding.repository.js';
import type { LogRecord } from './log-record.js';
import { RecordsRefusedError, type LogTarget } from './log-target.service.js';

it('entries that are too large together for the receiver arrive once and in order', async () => {
  const waiting = [1, 2, 3, 4, 5].map((id) => ({ id, timestamp: new Date().toISOString() }));
  const received: number[] = [];
  const target = {
    settings: async () => ({ LOG_AGGREGATOR_ENABLED: true, LOG_AGGREGATOR_TOWER_UUID: '' }),
    send: async (_settings: object, records: readonly LogRecord[]) => {
      if (records.length > 2) throw new RecordsRefusedError('invalid', 'too large');
      received.push(...records.map(({ text }) => (JSON.parse(text) as { id: number }).id));
    },
  } as unknown as LogTarget;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const deliveries = {
    existsBy: async () => waiting.length > 0,
    next: async (limit: number) => waiting.slice(0, limit),
    removeSent: async (ids: readonly number[]) => {
      waiting.splice(0, ids.length);
      if (waiting.length === 0) finish();
    },
  } as unknown as ActivityDeliveriesRepository;
  const state = { takeLease: async () => true, release: async () => undefined };
  const forwarder = new ActivityForwarder(
    target,
    deliveries,
    state as unknown as LogForwardingRepository,
  );
  forwarder.onApplicationBootstrap();
  await finished;
  await forwarder.onModuleDestroy();
  expect(received).toEqual([1, 2, 3, 4, 5]);
}, 10_000);
