import { cpus } from 'node:os';
import { allowedProcessors, Processors } from './processors.js';

it('Processors assigns the allowed number of processors, and other ones to the next command', () => {
  const processors = new Processors([0, 1, 4, 6], 2);
  const [first, second, third] = [processors.take(), processors.take(), processors.take()];
  expect([...first, ...second].toSorted()).toEqual([0, 1, 4, 6]);
  expect(third).toEqual(first);
});

it('Processors starts again with the first processors when too few are left', () => {
  const processors = new Processors([0, 1, 2], 2);
  const taken = Array.from({ length: 3 }, () => processors.take()).flat();
  expect(taken.toSorted()).toEqual([0, 0, 1, 1, 2, 2]);
});

it.each([0, 2, 3])('Processors assigns none of two processors if a command may use %d', (max) => {
  expect(new Processors([0, 1], max).take()).toEqual([]);
});

it('Processors reads the processors of its own process', async () => {
  const own = await allowedProcessors();
  expect(own.length).toBeGreaterThan(0);
  expect(own.length).toBeLessThanOrEqual(cpus().length);
});
