/** The policy of an instance group, which determines its machines. */
export interface GroupPolicy {
  id: number;
  /** Minimum percentage of the machines that policies may choose, 0 to 100. */
  percentage: number;
  minimum: number;
  /** Machines that are named by the policy. */
  listed: readonly number[];
}

export interface GroupInstance {
  group: number;
  machine: number;
}

/**
 * Returns the machines of each group by its policy (docs/contract/resources.md#instance-groups): the
 * machines of its list, then as many machines as its minimum and its percentage require. Groups with fewer
 * machines choose first, and choose the machines that policies have added to the fewest groups.
 *
 * @param eligible machines that policies may choose, by id
 */
export function membersByPolicy(
  policies: readonly GroupPolicy[],
  eligible: readonly number[],
): GroupInstance[] {
  const groups = policies.map((policy) => ({ policy, machines: [...new Set(policy.listed)] }));
  const uses = new Map(eligible.map((machine) => [machine, 0]));
  const usesOf = (machine: number): number => uses.get(machine) ?? 0;
  const choose = (isFilled: (size: number, policy: GroupPolicy) => boolean): void => {
    for (const { policy, machines } of bySize(groups)) {
      const free = eligible
        .filter((machine) => !machines.includes(machine))
        .toSorted((left, right) => usesOf(left) - usesOf(right));
      for (const machine of free) {
        if (isFilled(machines.length, policy)) break;
        machines.push(machine);
        uses.set(machine, usesOf(machine) + 1);
      }
    }
  };
  choose((size, { minimum }) => size >= minimum);
  choose((size, { percentage }) => (100 * size) / eligible.length >= percentage);
  return groups.flatMap(({ policy: { id: group }, machines }) =>
    machines.map((machine) => ({ group, machine })),
  );
}

const bySize = <T extends { machines: readonly number[] }>(groups: readonly T[]): T[] =>
  groups.toSorted((left, right) => left.machines.length - right.machines.length);
