import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CASCADE } from '../database/table.js';

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

/**
 * Other facts that playbooks of a project cache
 * (docs/decisions/0133-facts.md).
 */
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
