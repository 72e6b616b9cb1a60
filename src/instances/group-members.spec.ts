import { membersByPolicy, type GroupPolicy } from './group-members.js';

const group = (id: number, policy: Partial<GroupPolicy> = {}): GroupPolicy => ({
  id,
  percentage: 0,
  minimum: 0,
  listed: [],
  ...policy,
});

/** The machines of each group, in the order of the groups. */
const machines = (policies: readonly GroupPolicy[], choosable: readonly number[]): number[][] => {
  const members = membersByPolicy(policies, choosable);
  return policies.map(({ id }) =>
    members.filter((member) => member.group === id).map(({ machine }) => machine),
  );
};

it("a group contains the policy's percentage of machines", () => {
  const quarters = [1, 2, 3, 4].map((id) => group(id, { percentage: 25 }));
  expect(machines(quarters, [1])).toEqual([[1], [1], [1], [1]]);
  expect(machines(quarters, [1, 2])).toEqual([[1], [2], [1], [2]]);
  expect(machines([group(1, { percentage: 79 })], [1, 2, 3, 4, 5])).toEqual([[1, 2, 3, 4]]);
  expect(machines([group(1, { percentage: 100 })], [])).toEqual([[]]);
});

it('a group contains the minimum first, and prefers machines in fewer groups', () => {
  const policies = [
    group(1, { minimum: 2 }),
    ...[2, 3, 4].map((id) => group(id, { percentage: 25 })),
  ];
  expect(machines(policies, [1, 2, 3, 4])).toEqual([[1, 2], [3], [4], [1]]);
});

it('a group contains the listed machines once, even if policies must not choose them', () => {
  const listed = group(1, { listed: [9, 9, 1], minimum: 2 });
  expect(machines([listed, group(2, { minimum: 1 })], [1, 2])).toEqual([[9, 1], [1]]);
});

it('a group is empty without a policy', () => {
  expect(membersByPolicy([group(1)], [1, 2])).toEqual([]);
});
