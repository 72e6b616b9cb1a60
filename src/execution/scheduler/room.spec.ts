import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import type { Usage } from '../../runs/run-queue.repository.js';
import { Room } from './room.js';

const machine = (
  group_id: number,
  hostname: string,
  capacity: number,
  { max_concurrent_jobs = 0, max_forks = 0 } = {},
): GroupMachine => ({ group_id, hostname, capacity, max_concurrent_jobs, max_forks });

const places = (room: Room, ...preferred: readonly number[][]): (string | null)[] =>
  preferred.map((groups) => {
    const place = room.occupy(groups);
    return place && `${place.group} ${place.hostname}`;
  });

it('gives each run the first of its groups that has room', () => {
  const room = new Room([machine(1, 'a', 1), machine(2, 'b', 1)], []);
  expect(places(room, [1, 2], [1, 2], [1, 2], [3])).toEqual(['1 a', '2 b', null, null]);
  expect(room.open).toEqual([]);
});

it('chooses the machine with most free capacity', () => {
  const usage = [{ hostname: 'a', group_id: 1, runs: 3, forks: 3 }];
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
    { hostname: 'a', group_id: 1, runs: 1, forks: 1 },
    { hostname: 'a', group_id: null, runs: 1, forks: 1 },
  ];
  const room = new Room(
    [machine(1, 'a', 9, { max_concurrent_jobs: 2 }), machine(2, 'a', 9)],
    usage,
  );
  expect(places(room, [1], [1], [1, 2])).toEqual(['1 a', null, '2 a']);
  expect(room.open).toEqual([2]);
});

it('has no room on a machine that has more runs than its capacity', () => {
  const usage = [{ hostname: 'a', group_id: 1, runs: 5, forks: 5 }];
  const room = new Room([machine(1, 'a', 4), machine(1, 'b', 3)], usage);
  expect(room.size).toBe(3);
});

describe('the forks of a group', () => {
  const room = (usage: readonly Usage[] = []): Room =>
    new Room([machine(1, 'a', 9, { max_forks: 8 }), machine(2, 'a', 9)], usage);

  it('are shared by its runs, and no later run overtakes one that waits for them', () => {
    const limited = room();
    expect(limited.occupy([1], 6)).toEqual({ group: 1, hostname: 'a' });
    expect(limited.occupy([1], 3)).toBeNull();
    expect(limited.occupy([1], 1)).toBeNull();
    expect(limited.occupy([1, 2], 1)).toEqual({ group: 2, hostname: 'a' });
  });

  it('do not keep a run that is larger than the limit waiting for ever', () => {
    expect(room([{ hostname: 'a', group_id: 1, runs: 1, forks: 1 }]).occupy([1], 20)).toBeNull();
    expect(room().occupy([1], 20)).toEqual({ group: 1, hostname: 'a' });
  });
});
