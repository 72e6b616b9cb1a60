import { Batch } from './batch.js';
import { itemAt } from './invariants.js';

/** Returns a batch, and its calls, which wait until the test calls `go`. */
function pausedBatch() {
  const calls: { keys: readonly number[]; go: () => void }[] = [];
  const batch = new Batch<number, string>(
    (keys) =>
      new Promise((resolve) => {
        calls.push({ keys, go: () => resolve(keys.map((key) => `result ${key}`)) });
      }),
  );
  return { batch, calls };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('a batch combines simultaneous keys in one call, and returns each its own result', async () => {
  const { batch, calls } = pausedBatch();
  const all = Promise.all([batch.run(1), batch.run(2), batch.run(3)]);
  await turn();
  itemAt(calls, 0).go();
  expect(await all).toEqual(['result 1', 'result 2', 'result 3']);
  expect(calls.map(({ keys }) => keys)).toEqual([[1, 2, 3]]);
});

it('a batch collects keys while the previous batch is running', async () => {
  const { batch, calls } = pausedBatch();
  const first = batch.run(1);
  await turn();
  const rest = [batch.run(2), batch.run(3)];
  await turn();
  expect(calls).toHaveLength(1);
  itemAt(calls, 0).go();
  await first;
  await turn();
  itemAt(calls, 1).go();
  expect(await Promise.all(rest)).toEqual(['result 2', 'result 3']);
});

it('a batch does not wait for a slow batch', async () => {
  const { batch, calls } = pausedBatch();
  const slow = batch.run(1);
  await turn();
  const quick = batch.run(2);
  while (calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  itemAt(calls, 1).go();
  expect(await quick).toBe('result 2');
  itemAt(calls, 0).go();
  expect(await slow).toBe('result 1');
});

it('a batch fails only the key that causes the error', async () => {
  const batch = new Batch<number, number>(async (keys) => {
    if (keys.includes(2)) throw new Error('not this one');
    return keys.map((key) => key * 10);
  });
  const settled = await Promise.allSettled([batch.run(1), batch.run(2), batch.run(3)]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('a batch contains at most a hundred keys', async () => {
  const sizes: number[] = [];
  const batch = new Batch<number, number>(async (keys) => {
    sizes.push(keys.length);
    return keys;
  });
  await Promise.all(Array.from({ length: 250 }, (_none, index) => batch.run(index)));
  expect(sizes).toEqual([100, 100, 50]);
});
