import { entryOf } from '../common/invariants.js';
import type { GroupEdge } from './group-children.repository.js';
import { append } from '../common/records.js';

/**
 * Returns a group and those of its descendants that are in no group outside of this set.
 *
 * @param edges links to the group and to the groups below it
 */
export function onlyWithin(groupId: number, edges: readonly GroupEdge[]): number[] {
  const childrenOf = new Map<number, number[]>();
  const parentsLeft = new Map<number, number>();
  for (const { parentId, childId } of edges) {
    append(childrenOf, parentId, childId);
    parentsLeft.set(childId, (parentsLeft.get(childId) ?? 0) + 1);
  }
  const within = [groupId];
  // The list grows during the iteration: a group is added once all of its parents are in the
  // list.
  for (const id of within) {
    for (const child of childrenOf.get(id) ?? []) {
      const left = entryOf(parentsLeft, child) - 1;
      parentsLeft.set(child, left);
      if (left === 0) within.push(child);
    }
  }
  return within;
}
