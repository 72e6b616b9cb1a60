import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import type { Usage } from '../../runs/run-queue.repository.js';
import { FreeCapacity, type Requirements } from './free-capacity.js';

/** Returns a machine with `slots` for runs; by default, without limits of forks. */
const machine = (
  group_id: number,
  hostname: string,
  slots: number,
  { capacity = 1000, has_engine = false, max_concurrent_jobs = 0, max_forks = 0 } = {},
): GroupMachine => ({
  ...{ group_id, hostname, slots, capacity, has_engine, max_concurrent_jobs, max_forks },
});
const used = (hostname: string, group_id: number | null, runs: number, forks = runs): Usage => ({
  ...{ hostname, group_id, runs, forks },
});

const PLAIN: Requirements = { impact: 1, needs_engine: false };
const forks = (impact: number): Requirements => ({ ...PLAIN, impact });
const IN_CONTAINER: Requirements = { ...PLAIN, needs_engine: true };

const assign = (
  capacity: FreeCapacity,
  preferred: readonly number[],
  need: Requirements = PLAIN,
): string | null => {
  const found = capacity.reserve(preferred, need);
  return found && `${found.group} ${found.hostname}`;
};
const places = (capacity: FreeCapacity, ...preferred: readonly number[][]): (string | null)[] =>
  preferred.map((groups) => assign(capacity, groups));

it('the scheduler assigns each run to the first of its groups with free capacity', () => {
  const capacity = new FreeCapacity([machine(1, 'a', 1), machine(2, 'b', 1)], []);
  expect(places(capacity, [1, 2], [1, 2], [1, 2], [3])).toEqual(['1 a', '2 b', null, null]);
});

it('the scheduler counts a machine in two groups once', () => {
  const capacity = new FreeCapacity([machine(1, 'a', 2), machine(2, 'a', 2)], []);
  expect(places(capacity, [1], [2], [1])).toEqual(['1 a', '2 a', null]);
});

it('the scheduler applies the limit of a group, including its running jobs', () => {
  const limited = machine(1, 'a', 9, { max_concurrent_jobs: 2 });
  const capacity = new FreeCapacity(
    [limited, machine(2, 'a', 9)],
    [used('a', 1, 1), used('a', null, 1)],
  );
  expect(places(capacity, [1], [1], [1, 2])).toEqual(['1 a', null, '2 a']);
});

it('the scheduler assigns no run to a machine with more runs than its workers execute', () => {
  const capacity = new FreeCapacity([machine(1, 'a', 4), machine(1, 'b', 1)], [used('a', 1, 5)]);
  expect(places(capacity, [1], [1])).toEqual(['1 b', null]);
});

describe('the forks of machines', () => {
  it('are used on the machine with the most free forks', () => {
    const [a, b] = [{ capacity: 10 }, { capacity: 8 }];
    const capacity = new FreeCapacity(
      [machine(1, 'a', 9, a), machine(1, 'b', 9, b)],
      [used('a', 1, 1, 3)],
    );
    const found = [5, 4, 3, 3, 1].map((impact) => assign(capacity, [1], forks(impact)));
    expect(found).toEqual(['1 b', '1 a', '1 a', '1 b', null]);
  });

  it('are not used on a machine without a free slot', () => {
    const capacity = new FreeCapacity(
      [machine(1, 'a', 1), machine(1, 'b', 2, { capacity: 10 })],
      [],
    );
    expect(places(capacity, [1], [1], [1], [1])).toEqual(['1 a', '1 b', '1 b', null]);
  });

  it('do not limit a run larger than all machines: it runs alone on the largest idle one', () => {
    const sizes = [4, 8, 6].map((capacity, at) => machine(1, 'abc'.charAt(at), 9, { capacity }));
    const capacity = new FreeCapacity(sizes, [used('b', 1, 1)]);
    expect(assign(capacity, [1], forks(20))).toBe('1 c');
    expect(assign(capacity, [1], forks(20))).toBe('1 a');
    expect(assign(capacity, [1], forks(20))).toBeNull();
  });

  it('are reserved for the first waiting run of a group, and not in other groups', () => {
    const small = { capacity: 4 };
    const capacity = new FreeCapacity(
      [machine(1, 'a', 9, small), machine(2, 'a', 9, small)],
      [used('a', 1, 2)],
    );
    expect(assign(capacity, [1], forks(3))).toBeNull();
    expect(assign(capacity, [1])).toBeNull();
    expect(assign(capacity, [2])).toBe('2 a');
  });

  it('block the first group only if the run fits no other group', () => {
    const small = { capacity: 4 };
    const machines = [machine(1, 'a', 9, small), machine(2, 'b', 9)];
    const capacity = new FreeCapacity(machines, [used('a', 1, 2)]);
    expect(assign(capacity, [1, 2], forks(3))).toBe('2 b');
    expect(assign(capacity, [1])).toBe('1 a');
  });
});

describe('a run in a container', () => {
  it('is assigned to the first of its groups with a container engine', () => {
    const machines = [
      machine(1, 'a', 9),
      machine(2, 'a', 9),
      machine(2, 'b', 9, { has_engine: true }),
    ];
    const capacity = new FreeCapacity(machines, []);
    expect(assign(capacity, [1, 2], IN_CONTAINER)).toBe('2 b');
    expect(assign(capacity, [1], IN_CONTAINER)).toBeNull();
    expect(assign(capacity, [1])).toBe('1 a');
  });

  it('waits for a machine with an engine, which is reserved for it', () => {
    const engine = { has_engine: true, capacity: 4 };
    const capacity = new FreeCapacity(
      [machine(1, 'a', 9), machine(1, 'b', 9, engine)],
      [used('b', 1, 3)],
    );
    expect(assign(capacity, [1], { impact: 2, needs_engine: true })).toBeNull();
    expect(assign(capacity, [1], IN_CONTAINER)).toBeNull();
    expect(assign(capacity, [1])).toBe('1 a');
  });
});

describe('the forks of a group', () => {
  const capacity = (usage: readonly Usage[] = []): FreeCapacity =>
    new FreeCapacity([machine(1, 'a', 9, { max_forks: 8 }), machine(2, 'a', 9)], usage);

  it('are shared by its runs, and reserved for the first waiting run', () => {
    const limited = capacity();
    expect(assign(limited, [1], forks(6))).toBe('1 a');
    expect(assign(limited, [1], { impact: 3, needs_engine: false })).toBeNull();
    expect(assign(limited, [1])).toBeNull();
    expect(assign(limited, [1, 2])).toBe('2 a');
  });

  it('permit a run that is larger than the limit when the group is idle', () => {
    expect(assign(capacity([used('a', 1, 1)]), [1], forks(20))).toBeNull();
    expect(assign(capacity(), [1], forks(20))).toBe('1 a');
  });
});
