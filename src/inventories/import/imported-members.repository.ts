import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { ident, sql, type Sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { lookupId } from '../lookup-id.js';
import type { ImportScope } from './imported-objects.repository.js';
import { InventorySourceVariables } from './source-claim.entity.js';

/** Memberships by name: pairs of a group and its host or child group. */
export interface Pairs {
  readonly groups: readonly string[];
  readonly members: readonly string[];
}

/** Variables of an inventory, and the variables that sources delivered. */
export interface InventoryVariables {
  variables: string;
  /** Variables of this source's last delivery, as JSON; null before the first import. */
  delivered: string | null;
  /** Names of the variables that other sources delivered. */
  others: readonly string[];
}

/** Memberships and inventory variables of imports. */
@Injectable()
export class ImportedMembersRepository extends TableRepository<Row> {
  constructor(
    @InjectRepository(InventorySourceVariables) repository: Repository<InventorySourceVariables>,
  ) {
    super(repository);
  }

  /** Adds the hosts and subgroups of groups that are about to be deleted to the groups above these. */
  async lift(groups: readonly number[]): Promise<void> {
    await this.database.execute(sql`
      WITH RECURSIVE up (gone, parent) AS (
        SELECT child_id, parent_id FROM group_children WHERE child_id = ANY(${groups}::int[])
        UNION SELECT up.gone, edge.parent_id FROM up JOIN group_children edge
          ON edge.child_id = up.parent WHERE up.parent = ANY(${groups}::int[])),
      staying AS (SELECT gone, parent FROM up WHERE parent <> ALL(${groups}::int[])),
      lifted AS (
        INSERT INTO group_hosts (group_id, host_id)
        SELECT DISTINCT staying.parent, link.host_id
        FROM staying JOIN group_hosts link ON link.group_id = staying.gone
        ON CONFLICT DO NOTHING)
      INSERT INTO group_children (parent_id, child_id)
      SELECT DISTINCT staying.parent, edge.child_id
      FROM staying JOIN group_children edge ON edge.parent_id = staying.gone
      WHERE edge.child_id <> ALL(${groups}::int[])
      ON CONFLICT DO NOTHING`);
  }

  /**
   * Removes hosts from groups if the source delivered both and no longer delivers the membership.
   */
  async pruneHosts(scope: ImportScope, staying: Pairs): Promise<void> {
    const { sourceId } = scope;
    await this.database.execute(sql`
      WITH staying AS MATERIALIZED (${membersIn('hosts', scope, staying)})
      DELETE FROM group_hosts link
      USING inventory_source_groups grp, inventory_source_hosts host
      WHERE grp.inventory_source_id = ${sourceId} AND grp.group_id = link.group_id
        AND host.inventory_source_id = ${sourceId} AND host.host_id = link.host_id
        AND NOT EXISTS (SELECT 1 FROM staying
          WHERE staying.group_id = link.group_id AND staying.member_id = link.host_id)`);
  }

  /** Removes groups from groups if the source delivered both and no longer delivers the link. */
  async pruneChildren(scope: ImportScope, staying: Pairs): Promise<void> {
    const { sourceId } = scope;
    await this.database.execute(sql`
      WITH staying AS MATERIALIZED (${membersIn('groups', scope, staying)})
      DELETE FROM group_children edge
      USING inventory_source_groups parent, inventory_source_groups child
      WHERE parent.inventory_source_id = ${sourceId} AND parent.group_id = edge.parent_id
        AND child.inventory_source_id = ${sourceId} AND child.group_id = edge.child_id
        AND NOT EXISTS (SELECT 1 FROM staying
          WHERE staying.group_id = edge.parent_id AND staying.member_id = edge.child_id)`);
  }

  async addHosts(scope: ImportScope, pairs: Pairs): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO group_hosts (group_id, host_id) ${membersIn('hosts', scope, pairs)}
      ON CONFLICT DO NOTHING`);
  }

  async addChildren(scope: ImportScope, pairs: Pairs): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO group_children (parent_id, child_id) ${membersIn('groups', scope, pairs)}
      ON CONFLICT DO NOTHING`);
  }

  /** Returns all links between groups of an inventory, by name. */
  async edges({ inventoryId }: ImportScope): Promise<Pairs> {
    const rows = await this.database.rows<{ parent: string; child: string }>(sql`
      SELECT parent.name AS parent, child.name AS child
      FROM group_children edge JOIN groups parent ON parent.id = edge.parent_id
      JOIN groups child ON child.id = edge.child_id
      WHERE parent.inventory_id = ${inventoryId}`);
    return { groups: rows.map(({ parent }) => parent), members: rows.map(({ child }) => child) };
  }

  /** Returns the variables of an inventory; undefined if it was deleted. */
  variables({ sourceId, inventoryId }: ImportScope): Promise<InventoryVariables | undefined> {
    return this.database.row<InventoryVariables & Record<string, unknown>>(sql`
      SELECT inv.variables, own.delivered,
        ARRAY(SELECT DISTINCT json_object_keys(other.delivered::json)
          FROM inventory_source_variables other
          WHERE other.inventory_id = inv.id AND other.inventory_source_id <> ${sourceId}
            AND other.delivered <> '') AS others
      FROM inventories inv
      LEFT JOIN inventory_source_variables own ON own.inventory_source_id = ${sourceId}
      WHERE inv.id = ${inventoryId}`);
  }

  /** Stores the variables of an inventory, and those that the source delivered. */
  async storeVariables(
    { sourceId, inventoryId }: ImportScope,
    { variables, delivered }: { variables: string; delivered: string },
  ): Promise<void> {
    await this.database.execute(sql`
      WITH noted AS (
        INSERT INTO inventory_source_variables (inventory_source_id, inventory_id, delivered)
        VALUES (${sourceId}, ${inventoryId}, ${delivered})
        ON CONFLICT (inventory_source_id) DO UPDATE SET delivered = excluded.delivered)
      UPDATE inventories SET variables = ${variables}, modified = now()
      WHERE id = ${inventoryId} AND variables <> ${variables}`);
  }
}

/** Selects the ids of groups and their members, which `pairs` names, as `group_id` and `member_id`. */
const membersIn = (
  kind: 'hosts' | 'groups',
  { inventoryId }: ImportScope,
  { groups, members }: Pairs,
): Sql => sql`
  SELECT grp.id AS group_id, member.id AS member_id
  FROM unnest(${groups}::text[], ${members}::text[]) AS given(group_name, member_name)
  JOIN groups grp
    ON grp.inventory_id = ${lookupId(inventoryId)} AND grp.name = given.group_name
  JOIN ${ident(kind)} member
    ON member.inventory_id = ${lookupId(inventoryId)} AND member.name = given.member_name`;
