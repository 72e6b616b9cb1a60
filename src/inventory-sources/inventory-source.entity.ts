import {
  Bool,
  Char,
  Choices,
  Integer,
  Reference,
  Text,
  Variables,
} from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { TemplateStatus, UnifiedTemplate } from '../templates/unified-template.entity.js';
import { SOURCE_KINDS } from './source-kinds.js';

/** Values of `source` with their labels. */
export const SOURCES = SOURCE_KINDS.map(({ value, label }) => [value, label] as const);

export const SOURCE_VERBOSITIES = [
  [0, '0 (WARNING)'],
  [1, '1 (INFO)'],
  [2, '2 (DEBUG)'],
] as const;

/**
 * Options of the field `verbosity`. The column is shared with job templates or jobs, which have another
 * default.
 */
export const VERBOSITY_FIELD = {
  default: 1,
  columnDefault: 0,
  help: 'Level of detail of the output.',
} as const;

/** A source of an inventory's hosts (docs/contract/inventory-sources.md). */
export class InventorySource extends UnifiedTemplate {
  @TemplateStatus('never updated')
  override status!: string;

  @Reference('inventory', {
    required: true,
    immutable: true,
    needs: 'change',
    // The column is shared with workflow job templates, which keep the id. A trigger deletes the sources.
    onDelete: 'KEEP',
    help: 'Inventory the source belongs to; fixed on creation.',
  })
  inventory!: Reference;

  /** Organization of the inventory as of the source's creation. */
  @Reference('organization', { readOnly: true, nullable: true, hidden: true })
  organization!: Reference | null;

  @Choices(SOURCES, { required: true, help: 'Kind of the source.' })
  source!: string;

  @Char({ max: 1024, help: 'Path of the inventory in the project; empty for its root folder.' })
  source_path!: string;

  @Variables({
    ...describedAs('string'),
    help: 'Options of the plugin, or environment variables of a source in a project; JSON or YAML.',
  })
  source_vars!: string;

  @Char({ max: 1024, help: 'Branch, tag or commit to read; empty for that of the project.' })
  scm_branch!: string;

  @Reference('project', {
    nullable: true,
    needs: 'use',
    help: 'Project the inventory is read from.',
  })
  source_project!: Reference | null;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    // A request without this field leaves it unchanged, even if it replaces the other fields.
    usesDefault: false,
    unknown: (id) => `Credential ${String(id)} does not exist`,
    help: 'Credential that logs in to the source.',
  })
  credential!: Reference | null;

  @Reference('execution_environment', {
    nullable: true,
    index: false,
    help: 'Execution environment of the updates; empty for the default.',
  })
  execution_environment!: Reference | null;

  @Text({ help: 'Host variable, as a dotted path, that decides if the host is enabled.' })
  enabled_var!: string;

  @Text({ help: 'Value of enabled_var for enabled hosts; empty: any true value.' })
  enabled_value!: string;

  @Text({ help: 'Regular expression that matches the start of the names of the imported hosts.' })
  host_filter!: string;

  @Bool({ help: 'Remove hosts and groups that are no longer in the source.' })
  overwrite!: boolean;

  @Bool({ help: 'Remove variables of hosts and groups that the source does not contain.' })
  overwrite_vars!: boolean;

  @Bool({ help: 'Update before each job that uses the inventory.' })
  update_on_launch!: boolean;

  @Integer({ min: 0, default: 0, help: 'Seconds for which an update counts as fresh.' })
  update_cache_timeout!: number;

  @Integer({
    default: 0,
    help: 'Timeout of updates in seconds; 0: the default setting; below 0: none.',
  })
  timeout!: number;

  @Choices(SOURCE_VERBOSITIES, VERBOSITY_FIELD)
  verbosity!: number;

  @Text({ control: 'line', help: 'Host pattern for the imported hosts.' })
  limit!: string;
}
