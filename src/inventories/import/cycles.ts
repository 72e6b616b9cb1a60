import { zip } from '../../common/invariants.js';
import type { Pairs } from './imported-members.repository.js';
import { append } from '../../common/records.js';

/** Returns a cycle of groups, as the names on its path; null if there is none. */
export function cycleIn({ groups, members }: Pairs): readonly string[] | null {
  const children = new Map<string, string[]>();
  for (const [group, child] of zip(groups, members)) append(children, group, child);
  const acyclic = new Set<string>();
  for (const start of children.keys()) {
    const found = cycleFrom(start, children, acyclic);
    if (found) return found;
  }
  return null;
}

/**
 * Searches for a cycle from a group, without recursion, because inventories can be deeply nested.
 */
function cycleFrom(
  start: string,
  children: ReadonlyMap<string, readonly string[]>,
  acyclic: Set<string>,
): readonly string[] | null {
  const path: { name: string; remaining: string[] }[] = [];
  const onPath = new Set<string>();
  const enter = (name: string): void => {
    path.push({ name, remaining: [...(children.get(name) ?? [])] });
    onPath.add(name);
  };
  if (!acyclic.has(start)) enter(start);
  for (let current = path.at(-1); current; current = path.at(-1)) {
    const next = current.remaining.pop();
    if (next === undefined) {
      path.pop();
      onPath.delete(current.name);
      acyclic.add(current.name);
    } else if (onPath.has(next)) {
      const names = path.map(({ name }) => name);
      return [...names.slice(names.indexOf(next)), next];
    } else if (!acyclic.has(next)) {
      enter(next);
    }
  }
  return null;
}
