import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Bool, Char, DateTime, Reference, Variables } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { ident } from '../database/sql.js';
import { CASCADE } from '../database/table.js';
import { isClaimed } from './import/imported-objects.repository.js';

@Entity('hosts')
// Includes the column for visibility, so that a page far from the start reads no earlier host.
@Index('hosts_name_order_idx', ['name', 'id', 'inventory_id'])
@Index('hosts_inventory_id_idx', ['inventory_id', 'id'])
@Index('hosts_created_idx', ['created', 'id'])
@Index('hosts_modified_idx', ['modified', 'id'])
// By trigrams, see docs/decisions/0073-indexes.md.
@Index('hosts_text_idx', { synchronize: false })
@Index('hosts_inventory_name_key', ['inventory_id', 'name'], { unique: true })
export class Host extends NamedEntity {
  @Reference('inventory', {
    required: true,
    immutable: true,
    needs: 'change',
    help: 'Inventory the host belongs to; fixed on creation.',
    index: false,
  })
  inventory!: Reference;

  @Bool({ default: true, nullMeansAbsent: true, help: 'True if jobs run against the host.' })
  enabled!: boolean;

  @Char({ max: 1024, help: 'Id of the host in its source system.' })
  instance_id!: string;

  @Variables({ help: 'Variables of the host, JSON or YAML.' })
  variables!: string;

  /** Maintained by a trigger on `last_job_host_summary`. */
  @Bool({ readOnly: true, help: 'The host failed in its last job.' })
  has_active_failures!: boolean;

  @Bool({
    readOnly: true,
    column: null,
    computed: (alias) => isClaimed(ident(alias, 'id')),
    help: 'True if a source of the inventory delivered the host.',
  })
  has_inventory_sources!: boolean;

  /** True if a source created the host, false if a user created it. */
  @Bool({ internal: true })
  is_imported!: boolean;

  @Reference('job', {
    ...WIDE,
    readOnly: true,
    nullable: true,
    index: 'where set',
    help: 'Last job that ran on the host.',
  })
  last_job!: Reference | null;

  @Reference('job_host_summary', {
    ...WIDE,
    readOnly: true,
    nullable: true,
    index: 'where set',
    help: 'Result of the last job on the host.',
  })
  last_job_host_summary!: Reference | null;

  @DateTime({ readOnly: true, nullable: true, help: 'Time at which the facts were stored.' })
  ansible_facts_modified!: string | null;
}

/**
 * Facts of a host that `setup` returned, in a separate table, so that reading hosts does not read
 * facts.
 */
@Entity('host_facts')
// By `jsonb_path_ops`, see docs/decisions/0073-indexes.md.
@Index('host_facts_facts_idx', { synchronize: false })
export class HostFacts {
  @PrimaryColumn('integer')
  @ForeignKey('hosts', CASCADE)
  host_id!: number;

  @Column('json')
  facts!: Record<string, unknown>;
}

/** Other facts that playbooks of a project cache (docs/decisions/0133-facts.md). */
@Entity('host_project_facts')
@Index('host_project_facts_facts_idx', { synchronize: false })
export class HostProjectFacts {
  @PrimaryColumn('integer')
  @ForeignKey('hosts', CASCADE)
  host_id!: number;

  @PrimaryColumn('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  @Index()
  project_id!: number;

  @Column('json')
  facts!: Record<string, unknown>;
}
