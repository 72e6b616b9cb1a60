import { Injectable } from '@nestjs/common';
import { entryOf } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';

/** Ids of a group and everything below it. */
export const groupAndDescendants = (groupId: Sql): Sql => sql`
  WITH RECURSIVE tree (id) AS (
    SELECT ${groupId}::int
    UNION SELECT edge.child_id FROM group_children edge JOIN tree ON edge.parent_id = tree.id)
  SELECT id FROM tree`;

/** Ids of groups and everything above them; `start` selects the ids to begin with. */
export const groupsAndAncestors = (start: Sql): Sql => sql`
  WITH RECURSIVE tree (id) AS (
    ${start}
    UNION SELECT edge.parent_id FROM group_children edge JOIN tree ON edge.child_id = tree.id)
  SELECT id FROM tree`;

/** Which groups hold which; it never has a cycle. */
@Injectable()
export class GroupGraph {
  constructor(private readonly database: Database) {}

  /** Whether making `childId` a child of `parentId` would close a cycle. */
  async wouldCycle(parentId: number, childId: number): Promise<boolean> {
    const found = await this.database.row(sql`
      SELECT 1 WHERE ${parentId}::int IN (${groupAndDescendants(sql`${childId}`)})`);
    return found !== undefined;
  }

  /** A group, and those of its descendants that are in no group outside of this set. */
  async onlyWithin(groupId: number): Promise<number[]> {
    const edges = await this.database.rows<{ parent_id: number; child_id: number }>(sql`
      SELECT parent_id, child_id FROM group_children
      WHERE child_id IN (${groupAndDescendants(sql`${groupId}`)})`);
    const childrenOf = new Map<number, number[]>();
    const parentsLeft = new Map<number, number>();
    for (const { parent_id, child_id } of edges) {
      const children = childrenOf.get(parent_id);
      if (children) children.push(child_id);
      else childrenOf.set(parent_id, [child_id]);
      parentsLeft.set(child_id, (parentsLeft.get(child_id) ?? 0) + 1);
    }
    const within = [groupId];
    // The list grows while it is walked: a group joins it once all of its parents are in it.
    for (const id of within) {
      for (const child of childrenOf.get(id) ?? []) {
        const left = entryOf(parentsLeft, child) - 1;
        parentsLeft.set(child, left);
        if (left === 0) within.push(child);
      }
    }
    return within;
  }
}
