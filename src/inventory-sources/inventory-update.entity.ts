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
import * as json from '../common/fields/json-schema.js';
import { describedAs } from '../common/fields/options.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { ISOLATIONS } from '../instances/isolation.js';
import type { ImportChanges } from '../inventories/import/import-changes.js';
import { ExecutedJob, RUN_FIELDS } from '../runs/unified-job.entity.js';
import { SOURCES, SOURCE_VERBOSITIES, VERBOSITY_FIELD } from './inventory-source.entity.js';

/**
 * One update of an inventory from a source, with the source's options as of its start
 * (docs/contract/inventory-sources.md#updates).
 */
@ReadOnly()
export class InventoryUpdate extends ExecutedJob {
  @Reference('instance_group', RUN_FIELDS.instanceGroup)
  override instance_group!: Reference | null;

  @Reference('inventory', { nullable: true, help: 'Inventory that the run works on.' })
  inventory!: Reference | null;

  @Reference('inventory_source', {
    nullable: true,
    index: 'where set',
    help: 'Inventory source that is updated.',
  })
  inventory_source!: Reference | null;

  @Choices(SOURCES, { help: 'Kind of the source.' })
  source!: string;

  @Char({ max: 1024, help: 'Path of the inventory in the project.' })
  source_path!: string;

  @Variables({ ...describedAs('string'), help: 'Options of the source.' })
  source_vars!: string;

  @Char({ max: 1024, help: 'Branch, tag or commit.' })
  scm_branch!: string;

  @Char({ max: 1024, help: 'Revision of the project.' })
  scm_revision!: string;

  @Reference('project', {
    nullable: true,
    detailOnly: true,
    index: 'where set',
    help: 'Project that the inventory is read from.',
  })
  source_project!: Reference | null;

  @Reference('project_update', {
    ...WIDE,
    nullable: true,
    index: 'where set',
    help: 'Update of the project that this update started.',
  })
  source_project_update!: Reference | null;

  @Reference('credential', {
    nullable: true,
    index: 'where set',
    help: 'Credential of the source.',
  })
  credential!: Reference | null;

  @Reference('execution_environment', RUN_FIELDS.environment)
  execution_environment!: Reference | null;

  @Text({ help: 'Host variable, as a dotted path, that decides if the host is enabled.' })
  enabled_var!: string;

  @Text({ help: 'Value of `enabled_var` for enabled hosts.' })
  enabled_value!: string;

  @Text({ help: 'Regular expression for the names of the imported hosts.' })
  host_filter!: string;

  @Bool({ help: 'If true, hosts and groups that are no longer in the source are removed.' })
  overwrite!: boolean;

  @Bool({ help: 'If true, variables that the source does not contain are removed.' })
  overwrite_vars!: boolean;

  @Integer(RUN_FIELDS.timeout)
  timeout!: number;

  @Choices(SOURCE_VERBOSITIES, VERBOSITY_FIELD)
  verbosity!: number;

  @Text({ help: 'Host pattern for the imported hosts.' })
  limit!: string;

  @Choices(ISOLATIONS, RUN_FIELDS.isolation)
  isolation!: string;

  @Bool({ help: 'The host limit of the organization was exceeded.' })
  org_host_limit_error!: boolean;

  @Json({
    detailOnly: true,
    schema: json.freeObject('Numbers of hosts and groups that were added, changed and removed.'),
  })
  changes!: Partial<ImportChanges>;
}
