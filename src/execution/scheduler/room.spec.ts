import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import { Room } from './room.js';

const machine = (
  group_id: number,
  hostname: string,
  capacity: number,
  max_concurrent_jobs = 0,
): GroupMachine => ({ group_id, hostname, capacity, max_concurrent_jobs });

const places = (room: Room, ...preferred: readonly number[][]): (string | null)[] =>
  preferred.map((groups) => {
    const place = room.take(groups);
    return place && `${place.group} ${place.hostname}`;
  });

it('gives each run the first of its groups that has room', () => {
  const room = new Room([machine(1, 'a', 1), machine(2, 'b', 1)], []);
  expect(places(room, [1, 2], [1, 2], [1, 2], [3])).toEqual(['1 a', '2 b', null, null]);
  expect(room.open).toEqual([]);
});

it('chooses the machine with most free capacity', () => {
  const usage = [{ hostname: 'a', group_id: 1, runs: 3 }];
  const room = new Room([machine(1, 'a', 4), machine(1, 'b', 2)], usage);
  expect(places(room, [1], [1], [1], [1])).toEqual(['1 b', '1 a', '1 b', null]);
});

it('counts a machine of two groups once', () => {
  const room = new Room([machine(1, 'a', 2), machine(2, 'a', 2)], []);
  expect(room.size).toBe(2);
  expect(places(room, [1], [2], [1])).toEqual(['1 a', '2 a', null]);
});

it('keeps the limit of a group, with the runs that it has', () => {
  const usage = [
    { hostname: 'a', group_id: 1, runs: 1 },
    { hostname: 'a', group_id: null, runs: 1 },
  ];
  const room = new Room([machine(1, 'a', 9, 2), machine(2, 'a', 9)], usage);
  expect(places(room, [1], [1], [1, 2])).toEqual(['1 a', null, '2 a']);
  expect(room.open).toEqual([2]);
});

it('has no room on a machine that has more runs than its capacity', () => {
  const usage = [{ hostname: 'a', group_id: 1, runs: 5 }];
  const room = new Room([machine(1, 'a', 4), machine(1, 'b', 3)], usage);
  expect(room.size).toBe(3);
});
