import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Thread, ThreadBusy, type ThreadOptions } from './thread.js';

interface Task {
  kind: 'double' | 'spin' | 'hoard';
  value: number;
}

const PROGRAM = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ kind, value }) => {
  for (const hoard = []; kind !== 'double';) {
    if (kind === 'hoard') hoard.push(new Array(1e6).fill(value));
  }
  parentPort.postMessage(2 * value);
});
parentPort.postMessage('ready');
`;

describe('a thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'thread-'));
  const file = join(folder, 'program.mjs');
  writeFileSync(file, PROGRAM);
  const made: Thread<Task, number>[] = [];
  const thread = (timeoutMs: number, more: Partial<ThreadOptions> = {}): Thread<Task, number> => {
    const resourceLimits = { maxOldGenerationSizeMb: 32 };
    const one = new Thread<Task, number>({ file, timeoutMs, resourceLimits, ...more });
    made.push(one);
    return one;
  };
  afterAll(async () => {
    await Promise.all(made.map((thread) => thread.close()));
    rmSync(folder, { recursive: true });
  });

  const doubled = (one: Thread<Task, number>, value: number): Promise<number> =>
    one.run({ kind: 'double', value });

  it('runs its tasks in order', async () => {
    const one = thread(20_000);
    expect(await Promise.all([1, 2, 3].map((value) => doubled(one, value)))).toEqual([2, 4, 6]);
  });

  it('is terminated when a task takes too long, and restarts for the next task', async () => {
    const one = thread(500);
    const spinning = one.run({ kind: 'spin', value: 0 });
    const next = doubled(one, 21);
    await expect(spinning).rejects.toThrow('it takes too long');
    expect(await next).toBe(42);
  });

  it('is terminated when a task uses too much memory', async () => {
    const one = thread(20_000);
    await expect(one.run({ kind: 'hoard', value: 1 })).rejects.toThrow('it needs too much memory');
    expect(await doubled(one, 1)).toBe(2);
  });

  it('limits the number of waiting tasks', async () => {
    const one = thread(20_000, { maxWaiting: 2 });
    const taken = [doubled(one, 1), doubled(one, 2)];
    await expect(doubled(one, 3)).rejects.toThrow(ThreadBusy);
    expect(await Promise.all(taken)).toEqual([2, 4]);
    expect(await doubled(one, 4)).toBe(8);
  });

  it('rejects its task if its program ends before it is ready', async () => {
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, '');
    const work = doubled(thread(20_000, { file: empty }), 1);
    await expect(work).rejects.toThrow('it ended before it was ready');
  });

  it('starts again after it was closed', async () => {
    const one = thread(20_000);
    await doubled(one, 1);
    await one.close();
    expect(await doubled(one, 2)).toBe(4);
  });
});
