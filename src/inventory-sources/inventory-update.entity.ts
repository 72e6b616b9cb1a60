import { WIDE } from '../common/fields/column-types.js';
import {
  Bool,
  Char,
  Choices,
  Integer,
  Json,
  Reference,
  Text,
  Variables,
} from '../common/fields/field.js';
import { freeObject } from '../common/fields/json-schema.js';
import { describedAs } from '../common/fields/options.js';
import { ISOLATIONS } from '../instances/isolation.js';
import type { ImportChanges } from '../inventories/import/import-changes.js';
import { ExecutedJob, ISOLATION_FIELD, PLACED } from '../runs/unified-job.entity.js';
import { SOURCES, SOURCE_VERBOSITIES } from './inventory-source.entity.js';

const READ_ONLY = { readOnly: true } as const;

/**
 * One update of an inventory from a source, with the source's options as of its start
 * (docs/contract/inventory-sources.md#updates).
 */
export class InventoryUpdate extends ExecutedJob {
  @Reference('instance_group', PLACED)
  override instance_group!: Reference | null;

  @Reference('inventory', { ...READ_ONLY, nullable: true })
  inventory!: Reference | null;

  @Reference('inventory_source', {
    ...READ_ONLY,
    nullable: true,
    index: 'where set',
  })
  inventory_source!: Reference | null;

  @Choices(SOURCES, READ_ONLY)
  source!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  source_path!: string;

  @Variables({ ...READ_ONLY, ...describedAs('string') })
  source_vars!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_branch!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_revision!: string;

  @Reference('project', { ...READ_ONLY, nullable: true, detailOnly: true })
  source_project!: Reference | null;

  @Reference('project_update', { ...WIDE, ...READ_ONLY, nullable: true })
  source_project_update!: Reference | null;

  @Reference('credential', {
    ...READ_ONLY,
    nullable: true,
    index: 'where set',
  })
  credential!: Reference | null;

  @Reference('execution_environment', { ...READ_ONLY, nullable: true, index: false })
  execution_environment!: Reference | null;

  @Text(READ_ONLY)
  enabled_var!: string;

  @Text(READ_ONLY)
  enabled_value!: string;

  @Text(READ_ONLY)
  host_filter!: string;

  @Bool(READ_ONLY)
  overwrite!: boolean;

  @Bool(READ_ONLY)
  overwrite_vars!: boolean;

  @Integer({ ...READ_ONLY, default: 0 })
  timeout!: number;

  // The column is shared with jobs, which have another default.
  @Choices(SOURCE_VERBOSITIES, { ...READ_ONLY, default: 1, columnDefault: 0 })
  verbosity!: number;

  @Text(READ_ONLY)
  limit!: string;

  @Choices(ISOLATIONS, ISOLATION_FIELD)
  isolation!: string;

  @Bool({ ...READ_ONLY, help: 'The organization would have had more hosts than it may.' })
  org_host_limit_error!: boolean;

  @Json({
    ...READ_ONLY,
    detailOnly: true,
    schema: freeObject('How many hosts and groups were added, changed and removed.'),
  })
  changes!: Partial<ImportChanges>;
}
