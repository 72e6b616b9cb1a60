import { WIDE } from '../../common/fields/column-types.js';
import { Char, Reference } from '../../common/fields/field.js';
import { resource } from '../../common/resource/registry.js';
import { PlainEvent } from './plain-event.entity.js';

/** One event of an inventory update: some lines of its output, without a host. */
export class InventoryUpdateEvent extends PlainEvent {
  @Reference(() => resource('inventory_update'), {
    ...WIDE,
    readOnly: true,
    index: false,
    column: 'job_id',
  })
  inventory_update!: Reference;

  @Reference(() => resource('host'), { internal: true, nullable: true, index: false })
  override host!: Reference | null;

  @Char({ internal: true, max: 1024 })
  override host_name!: string;
}
