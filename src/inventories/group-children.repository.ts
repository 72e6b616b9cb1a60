import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { lookupId } from './lookup-id.js';
import { GroupChild } from './group.entity.js';

/** A group inside another group. */
export interface GroupEdge {
  parentId: number;
  childId: number;
}

const EDGE = sql`parent_id AS "parentId", child_id AS "childId"`;

/** Returns a query for the ids of a group and all groups below it. */
export const groupAndDescendants = (groupId: Sql): Sql => sql`
  WITH RECURSIVE tree (id) AS (
    SELECT ${groupId}::int
    UNION SELECT edge.child_id FROM group_children edge JOIN tree ON edge.parent_id = tree.id)
  SELECT id FROM tree`;

/**
 * Returns a query for the ids of groups and all groups above them; `start` selects the first ids.
 */
export const groupsAndAncestors = (start: Sql): Sql => sql`
  WITH RECURSIVE tree (id) AS (
    ${start}
    UNION SELECT edge.parent_id FROM group_children edge JOIN tree ON edge.child_id = tree.id)
  SELECT id FROM tree`;

/** Returns the SQL condition that a group is a subgroup. */
export const isSubgroup = (groupId: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM group_children edge WHERE edge.child_id = ${groupId})`;

/** Parent-child links of groups; they never contain a cycle. */
@Injectable()
export class GroupChildrenRepository extends TableRepository<GroupChild> {
  constructor(@InjectRepository(GroupChild) repository: Repository<GroupChild>) {
    super(repository);
  }

  /** Returns true if a group is another group or below it. */
  async isWithin(groupId: number, otherId: number): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 WHERE ${groupId}::int IN (${groupAndDescendants(sql`${otherId}`)})`);
  }

  /** Returns every link to a group or to a group below it. */
  edgesBelow(groupId: number): Promise<GroupEdge[]> {
    return this.database.rows<GroupEdge>(sql`
      SELECT ${EDGE} FROM group_children
      WHERE child_id IN (${groupAndDescendants(sql`${groupId}`)})`);
  }

  /** Returns the links from some groups to their children. */
  edgesOf(parents: readonly number[]): Promise<GroupEdge[]> {
    return this.database.rows<GroupEdge>(sql`
      SELECT ${EDGE} FROM group_children WHERE parent_id = ANY(${parents}::int[])`);
  }

  /**
   * Copies the links between groups of one inventory to the groups with the same names in another
   * inventory.
   */
  async copy(original: number, copy: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO group_children (parent_id, child_id)
      SELECT new_parent.id, new_child.id
      FROM group_children link
      JOIN groups old_parent
        ON old_parent.id = link.parent_id AND old_parent.inventory_id = ${original}
      JOIN groups old_child ON old_child.id = link.child_id
      JOIN groups new_parent
        ON new_parent.inventory_id = ${lookupId(copy)} AND new_parent.name = old_parent.name
      JOIN groups new_child
        ON new_child.inventory_id = ${lookupId(copy)} AND new_child.name = old_child.name`);
  }
}
