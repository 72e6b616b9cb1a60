import { WIDE } from '../../common/fields/column-types.js';
import { Char, Integer, Reference } from '../../common/fields/field.js';
import { JobEvent } from './job-event.entity.js';

const INTERNAL = { internal: true } as const;

/** One event of a run without plays: hides the fields that only events of playbooks have. */
export abstract class PlainEvent extends JobEvent {
  @Reference('unified_job', { ...INTERNAL, ...WIDE, index: false })
  override job!: Reference;

  @Integer({ ...INTERNAL, default: 0 })
  override event_level!: number;

  @Char(INTERNAL)
  override parent_uuid!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override playbook!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override play!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override task!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override role!: string;
}

export class AdHocCommandEvent extends PlainEvent {
  @Reference('ad_hoc_command', {
    ...WIDE,
    readOnly: true,
    index: false,
    column: 'job_id',
    help: 'Ad hoc command of the event.',
  })
  ad_hoc_command!: Reference;
}

/** One event of an inventory update: some lines of its output, without a host. */
export class InventoryUpdateEvent extends PlainEvent {
  @Reference('inventory_update', {
    ...WIDE,
    readOnly: true,
    index: false,
    column: 'job_id',
    help: 'Inventory update of the event.',
  })
  inventory_update!: Reference;

  @Reference('host', { internal: true, nullable: true, index: false })
  override host!: Reference | null;

  @Char({ internal: true, max: 1024 })
  override host_name!: string;
}
