import { Slots } from './slots.js';

it('Slots counts the slots of all holders of a resource', () => {
  const slots = new Slots<string>();
  expect(slots.take('a', 'streams', 2)).toBe(true);
  expect(slots.take('b', 'streams', 2)).toBe(true);
  expect(slots.take('b', 'streams', 2)).toBe(false);
  expect(slots.take('b', 'streams of 7', 2)).toBe(true);
  slots.free('a', 'streams');
  expect(slots.take('b', 'streams', 2)).toBe(true);
});

it('Slots frees all slots of a holder that leaves, and no others', () => {
  const slots = new Slots<string>();
  for (const holder of ['a', 'a', 'b']) slots.take(holder, 'streams', 3);
  slots.freeAll('a');
  expect(slots.take('c', 'streams', 2)).toBe(true);
  expect(slots.take('c', 'streams', 2)).toBe(false);
});
