import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { Settings } from '../../config/settings.js';
import { ProcessGroup } from './process-group.js';

const settings = Settings.load({
  ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
  WEB_CONCURRENCY: '1',
});
const logger = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };

it('a process group survives a message that a killed member cannot receive', () => {
  const child = Object.assign(new EventEmitter(), { send: () => true, kill: () => true });
  const member = Object.assign(new EventEmitter(), { process: child }) as unknown as Worker;
  const fork = jest.spyOn(cluster, 'fork').mockReturnValue(member);
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const before = signals.map((signal) => process.listeners(signal));
  try {
    new ProcessGroup(settings, logger).start();
    expect(fork).toHaveBeenCalledTimes(1);
    expect(() => member.emit('error', new Error('write EPIPE'))).not.toThrow();
  } finally {
    fork.mockRestore();
    for (const event of ['message', 'listening', 'exit']) cluster.removeAllListeners(event);
    for (const [index, signal] of signals.entries()) {
      const added = process
        .listeners(signal)
        .filter((listener) => !before[index]?.includes(listener));
      for (const listener of added) process.off(signal, listener);
    }
  }
});
