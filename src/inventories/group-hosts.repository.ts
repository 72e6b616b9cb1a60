import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { lookupId } from './lookup-id.js';
import { groupAndDescendants } from './group-children.repository.js';
import { GroupHost } from './group.entity.js';

export interface Membership {
  groupId: number;
  hostId: number;
}

/** Returns a query for the ids of the groups that a host is a direct member of. */
export const groupsOfHost = (hostId: number): Sql => sql`
  SELECT group_id FROM group_hosts WHERE host_id = ${hostId}`;

/** Returns a query for the ids of the hosts of a group and of all groups below it. */
export const hostsBelow = (groupId: number): Sql => sql`
  SELECT host_id FROM group_hosts WHERE group_id IN (${groupAndDescendants(sql`${groupId}`)})`;

@Injectable()
export class GroupHostsRepository extends TableRepository<GroupHost> {
  constructor(@InjectRepository(GroupHost) repository: Repository<GroupHost>) {
    super(repository);
  }

  /** Returns the memberships of some groups. */
  of(groups: readonly number[]): Promise<Membership[]> {
    return this.database.rows<Membership>(sql`
      SELECT group_id AS "groupId", host_id AS "hostId" FROM group_hosts
      WHERE group_id = ANY(${groups}::int[])`);
  }

  /**
   * Copies the memberships of one inventory to the groups and hosts with the same names in another
   * inventory.
   */
  async copy(original: number, copy: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO group_hosts (group_id, host_id)
      SELECT new_group.id, new_host.id
      FROM group_hosts link
      JOIN groups old_group ON old_group.id = link.group_id AND old_group.inventory_id = ${original}
      JOIN hosts old_host ON old_host.id = link.host_id
      JOIN groups new_group
        ON new_group.inventory_id = ${lookupId(copy)} AND new_group.name = old_group.name
      JOIN hosts new_host
        ON new_host.inventory_id = ${lookupId(copy)} AND new_host.name = old_host.name`);
  }
}
