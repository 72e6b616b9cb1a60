import { Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Json, Reference } from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';

/**
 * Entry of the audit trail (docs/contract/activity.md#entries). An entry is kept after its objects are
 * deleted.
 */
@ReadOnly()
@Entity('activity_stream')
@Index('activity_stream_timestamp_idx', ['timestamp', 'id'])
@Index('activity_stream_operation_idx', ['operation', 'id'])
@Index('activity_stream_object1_idx', ['object1', 'object1_id'])
@Index('activity_stream_object2_idx', ['object2', 'object2_id'])
@Index('activity_stream_organization_id_idx', ['organization_id'])
@Index('activity_stream_parent_idx', ['parent_type', 'parent_id'])
export class ActivityStreamEntry {
  @Integer({ ...WIDE, label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @DateTime({ nullable: false, columnDefault: 'now()', help: 'Time of the change.' })
  timestamp!: string;

  @Choices(
    ['create', 'update', 'delete', 'associate', 'disassociate'].map(
      (word) => [word, labelOf(word)] as const,
    ),
    { help: 'Kind of the change.' },
  )
  operation!: string;

  @Json({ search: true, help: 'Old and new value by field, or the objects that were linked.' })
  changes!: Record<string, unknown>;

  @Char({ help: 'Type of the object acted on.' })
  object1!: string;

  @Char({ help: 'Type of the second object of an association.' })
  object2!: string;

  @Char({ help: 'Name of the relation that an association changed.' })
  object_association!: string;

  @Char({ help: 'Resource type a granted role belongs to.' })
  object_type!: string;

  @Char({ help: 'Instance on which the change was made.' })
  action_node!: string;

  @Reference('user', { nullable: true, hidden: true })
  actor!: Reference | null;

  @Json({ internal: true, nullable: true })
  actor_snapshot!: object | null;

  @Integer({ ...WIDE, internal: true, nullable: true })
  object1_id!: number | null;

  @Char({ internal: true })
  object1_name!: string;

  @Integer({ ...WIDE, internal: true, nullable: true })
  object2_id!: number | null;

  @Char({ internal: true })
  object2_name!: string;

  /** Stored so that the organization's auditors can read entries about deleted objects. */
  @Integer({ internal: true, nullable: true })
  organization_id!: number | null;

  /**
   * Stored so that readers of the object's parent, such as the inventory of a host, can read entries
   * about deleted objects.
   */
  @Char({ internal: true, nullable: true })
  parent_type!: string | null;

  @Integer({ ...WIDE, internal: true, nullable: true })
  parent_id!: number | null;
}
