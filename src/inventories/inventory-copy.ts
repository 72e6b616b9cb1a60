import type { CopyContext } from '../common/rest/copy.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { HostLimit } from './host-limit.service.js';
import type { InventorySchema } from './inventory.schema.js';

/** Copies hosts, groups and who is in what; names are unique in an inventory and tell them apart. */
export async function copyMembers(
  original: RowOf<InventorySchema>,
  copy: RowOf<InventorySchema>,
  { services, actor }: CopyContext,
): Promise<void> {
  const { database } = services;
  const { id: author } = actor;
  await services.find(HostLimit).assertRoom(copy.id, {
    names: sql`SELECT name FROM hosts WHERE inventory_id = ${original.id}`,
    most: original.total_hosts,
  });
  await database.execute(sql`
    INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables,
      created_by_id, modified_by_id)
    SELECT ${copy.id}, name, description, enabled, instance_id, variables, ${author}, ${author}
    FROM hosts WHERE inventory_id = ${original.id}`);
  await database.execute(sql`
    INSERT INTO groups (inventory_id, name, description, variables, created_by_id, modified_by_id)
    SELECT ${copy.id}, name, description, variables, ${author}, ${author}
    FROM groups WHERE inventory_id = ${original.id}`);
  await database.execute(sql`
    INSERT INTO group_hosts (group_id, host_id)
    SELECT new_group.id, new_host.id
    FROM group_hosts link
    JOIN groups old_group ON old_group.id = link.group_id AND old_group.inventory_id = ${original.id}
    JOIN hosts old_host ON old_host.id = link.host_id
    JOIN groups new_group ON new_group.inventory_id = ${copy.id} AND new_group.name = old_group.name
    JOIN hosts new_host ON new_host.inventory_id = ${copy.id} AND new_host.name = old_host.name`);
  await database.execute(sql`
    INSERT INTO group_children (parent_id, child_id)
    SELECT new_parent.id, new_child.id
    FROM group_children link
    JOIN groups old_parent
      ON old_parent.id = link.parent_id AND old_parent.inventory_id = ${original.id}
    JOIN groups old_child ON old_child.id = link.child_id
    JOIN groups new_parent
      ON new_parent.inventory_id = ${copy.id} AND new_parent.name = old_parent.name
    JOIN groups new_child
      ON new_child.inventory_id = ${copy.id} AND new_child.name = old_child.name`);
}
