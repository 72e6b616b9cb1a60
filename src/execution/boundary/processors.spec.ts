import { cpus } from 'node:os';
import { ownProcessors, Processors } from './processors.js';

it('takes as many processors as a command may use, and others for the next one', () => {
  const processors = new Processors([0, 1, 4, 6], 2);
  const [first, second, third] = [processors.take(), processors.take(), processors.take()];
  expect([...first, ...second].toSorted()).toEqual([0, 1, 4, 6]);
  expect(third).toEqual(first);
});

it('begins anew with the first where the last are not enough', () => {
  const processors = new Processors([0, 1, 2], 2);
  const taken = Array.from({ length: 3 }, () => processors.take()).flat();
  expect(taken.toSorted()).toEqual([0, 0, 1, 1, 2, 2]);
});

it.each([0, 2, 3])('takes none of two where a command may use %d', (most) => {
  expect(new Processors([0, 1], most).take()).toEqual([]);
});

it('knows those of its own process', async () => {
  const own = await ownProcessors();
  expect(own.length).toBeGreaterThan(0);
  expect(own.length).toBeLessThanOrEqual(cpus().length);
});
