import { Bool, Char, Choices, Reference, Variables } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';

export class InventorySchema extends NamedSchema {
  @Reference(() => resource('organization'), {
    required: true,
    needs: 'inventory_admin',
    help: 'Organization the inventory belongs to.',
  })
  organization!: number;

  @Choices(
    [
      ['', 'Hosts have a direct link to this inventory.'],
      ['smart', 'Hosts for inventory generated using the host_filter property.'],
      ['constructed', 'Parse list of source inventories with the constructed plugin.'],
    ],
    { help: 'Kind of inventory.' },
  )
  kind!: string;

  @Char({ nullable: true, max: 4096, help: 'Filter of a smart inventory.' })
  host_filter!: string | null;

  @Variables({ help: 'Variables of all hosts, JSON or YAML.' })
  variables!: string;

  @Bool({ help: 'Keep jobs from falling back to the instance groups of the organization.' })
  prevent_instance_group_fallback!: boolean;

  @Bool({ readOnly: true, help: 'The inventory is being deleted.' })
  pending_deletion!: boolean;
}

export class HostSchema extends NamedSchema {
  @Reference(() => resource('inventory'), {
    required: true,
    needs: 'change',
    help: 'Inventory the host belongs to; fixed on creation.',
    index: false,
  })
  inventory!: number;

  @Bool({ default: true, help: 'Whether jobs run against the host.' })
  enabled!: boolean;

  @Char({ max: 1024, help: 'Id of the host in the system it came from.' })
  instance_id!: string;

  @Variables({ help: 'Variables of the host, JSON or YAML.' })
  variables!: string;

  @Reference(() => resource('job'), { readOnly: true, nullable: true, index: false })
  last_job!: number | null;

  @Reference(() => resource('job_host_summary'), { readOnly: true, nullable: true, index: false })
  last_job_host_summary!: number | null;
}

export class GroupSchema extends NamedSchema {
  @Reference(() => resource('inventory'), {
    required: true,
    needs: 'change',
    help: 'Inventory the group belongs to; fixed on creation.',
    index: false,
  })
  inventory!: number;

  @Variables({ help: 'Variables of the group, JSON or YAML.' })
  variables!: string;
}
