import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { rowCount, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { GroupRow } from './ansible-inventory.js';
import { Group } from './group.entity.js';
import { readableVariables, rowsWithVariables } from './readable-variables.js';

/**
 * Returns a query for the first groups of a host by name: `id`, `name`, and `total`, the number of
 * all its groups.
 */
export const groupsShownOf = (hostId: Sql, limit: number): Sql => sql`
  SELECT g.id, g.name, count(*) OVER ()::int AS total
  FROM group_hosts gh JOIN groups g ON g.id = gh.group_id
  WHERE gh.host_id = ${hostId} ORDER BY g.name LIMIT ${rowCount(limit)}`;

type DescribedGroup = Omit<GroupRow, 'variables'> & Record<'variables', string | null>;

@Injectable()
export class GroupsRepository extends TableRepository<RowOf<Group>> {
  constructor(@InjectRepository(Group) repository: Repository<Group>) {
    super(repository);
  }

  /** Returns groups of an inventory with all columns, by name. */
  byName(inventoryId: number, limit: number): Promise<RowOf<Group>[]> {
    return this.database.rows<RowOf<Group>>(sql`
      SELECT * FROM groups WHERE inventory_id = ${inventoryId} ORDER BY name, id LIMIT ${limit}`);
  }

  /** Returns the size of the variables of an inventory's groups, in bytes. */
  async variablesBytes(inventoryId: number): Promise<number> {
    const { bytes } = await this.database.rowOrFail<{ bytes: number }>(sql`
      SELECT coalesce(sum(octet_length(variables)), 0)::float8 AS bytes
      FROM groups WHERE inventory_id = ${inventoryId}`);
    return bytes;
  }

  /**
   * Returns the groups of an inventory with the columns for Ansible's inventory.
   *
   * @throws VariablesError if the variables of all groups are too large
   */
  async described(inventoryId: number): Promise<GroupRow[]> {
    const rows = await this.database.rows<DescribedGroup>(sql`
      SELECT id, name, ${readableVariables(sql`variables`)} AS variables
      FROM groups WHERE inventory_id = ${inventoryId}`);
    return rowsWithVariables(rows);
  }

  /** @returns the deleted rows */
  removeAll(ids: readonly number[]): Promise<RowOf<Group>[]> {
    return this.database.rows<RowOf<Group>>(sql`
      DELETE FROM groups WHERE id = ANY(${ids}::int[]) RETURNING *`);
  }

  /**
   * Deletes some groups of an inventory whose rows are not locked.
   *
   * @returns number of deleted groups
   */
  removeSome(inventoryId: number, limit: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM groups WHERE id IN (
        SELECT id FROM groups WHERE inventory_id = ${inventoryId}
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }

  /**
   * Copies the groups of an inventory to another.
   *
   * @param author user who copies the inventory
   */
  async copy(original: number, copy: number, author: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO groups (inventory_id, name, description, variables, created_by_id, modified_by_id)
      SELECT ${copy}, name, description, variables, ${author}, ${author}
      FROM groups WHERE inventory_id = ${original}`);
  }
}
