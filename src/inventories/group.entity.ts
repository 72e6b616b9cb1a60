import { Entity, Index } from 'typeorm';
import { Bool, Reference, Variables } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { LinkRow, LinkTo } from '../database/table.js';

@Entity('groups')
@Index('groups_inventory_id_idx', ['inventory_id', 'id'])
@Index('groups_created_idx', ['created', 'id'])
@Index('groups_modified_idx', ['modified', 'id'])
// By trigrams, see docs/decisions/0073-indexes.md.
@Index('groups_text_idx', { synchronize: false })
@Index('groups_inventory_name_key', ['inventory_id', 'name'], { unique: true })
@Index('groups_name_order_idx', ['name', 'id'])
export class Group extends NamedEntity {
  @Reference('inventory', {
    required: true,
    immutable: true,
    needs: 'change',
    help: 'Inventory the group belongs to; fixed on creation.',
    index: false,
  })
  inventory!: Reference;

  @Variables({ help: 'Variables of the group, JSON or YAML.' })
  variables!: string;

  /** True if a source created the group, false if a user created it. */
  @Bool({ internal: true })
  is_imported!: boolean;
}

@Entity('group_hosts')
@Index('group_hosts_key', ['group_id', 'host_id'], { unique: true })
export class GroupHost extends LinkRow {
  @LinkTo('groups')
  group_id!: number;

  @LinkTo('hosts', { index: true })
  host_id!: number;
}

/** Group within a group. */
@Entity('group_children')
@Index('group_children_key', ['child_id', 'parent_id'], { unique: true })
export class GroupChild extends LinkRow {
  @LinkTo('groups')
  child_id!: number;

  @LinkTo('groups', { index: true })
  parent_id!: number;
}
