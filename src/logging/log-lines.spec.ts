import type { JsonLogger, LogLine } from './json-logger.js';
import type { LogForwardingRepository } from './log-forwarding.repository.js';
import { LogLines } from './log-lines.service.js';
import type { LogRecord } from './log-record.js';
import { RecordsRefusedError, type LogTarget } from './log-target.service.js';

const SETTINGS = {
  LOG_AGGREGATOR_ENABLED: true,
  LOG_AGGREGATOR_LOGGERS: ['awx'],
  LOG_AGGREGATOR_LEVEL: 'INFO',
  LOG_AGGREGATOR_TOWER_UUID: '',
};

it('large log lines are sent in requests of a limited size', async () => {
  const batches: (readonly LogRecord[])[] = [];
  const target = {
    settings: async () => SETTINGS,
    send: async (_settings: object, records: readonly LogRecord[]) => void batches.push(records),
  } as unknown as LogTarget;
  const lines = new LogLines(target, {} as LogForwardingRepository);
  const logger = {} as JsonLogger;
  lines.start(logger);
  const line = { time: new Date().toISOString(), level: 'info', message: 'x'.repeat(50_000) };
  for (let count = 0; count < 50; count += 1) logger.listener?.(line as LogLine);
  await lines.onModuleDestroy();
  const sizes = batches.map((batch) => batch.reduce((sum, { text }) => sum + text.length, 0));
  expect(batches.flat()).toHaveLength(50);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1024 * 1024);
});

it('a log line that the receiver refuses is dropped and counted, and the others arrive once', async () => {
  const received: string[] = [];
  const target = {
    settings: async () => SETTINGS,
    send: async (_settings: object, records: readonly LogRecord[]) => {
      const messages = records.map(({ text }) => (JSON.parse(text) as { message: string }).message);
      if (messages.includes('37')) throw new RecordsRefusedError('invalid', 'refused');
      received.push(...messages);
    },
  } as unknown as LogTarget;
  const addDropped = jest.fn(async () => undefined);
  const lines = new LogLines(target, { addDropped } as unknown as LogForwardingRepository);
  const logger = {} as JsonLogger;
  lines.start(logger);
  const line = { time: new Date().toISOString(), level: 'info' };
  const messages = Array.from({ length: 100 }, (_, count) => String(count));
  for (const message of messages) logger.listener?.({ ...line, message } as LogLine);
  // The first attempt ends at the refused record.
  await lines.onModuleDestroy();
  await lines.onModuleDestroy();
  expect(received).toEqual(messages.filter((message) => message !== '37'));
  expect(addDropped.mock.calls).toEqual([[1]]);
});

it('a change of the settings applies to records that wait already', async () => {
  let enabled = true;
  const send = jest.fn(async () => void (enabled = false));
  const settings = async () => ({ ...SETTINGS, LOG_AGGREGATOR_ENABLED: enabled });
  const lines = new LogLines(
    { settings, send } as unknown as LogTarget,
    {} as LogForwardingRepository,
  );
  const logger = {} as JsonLogger;
  lines.start(logger);
  const line = { time: new Date().toISOString(), level: 'info', message: 'x'.repeat(50_000) };
  for (let count = 0; count < 100; count += 1) logger.listener?.(line as LogLine);
  await lines.onModuleDestroy();
  expect(send).toHaveBeenCalledTimes(1);
});
