import { Char, Choices, Integer, Text, Variables } from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { INVENTORY_KINDS, Inventory } from '../inventories/inventory.entity.js';
import { SOURCE_VERBOSITIES } from './inventory-source.entity.js';

/**
 * Options of a field that the inventory's source stores. A missing or null value does not change the
 * field.
 */
const SOURCE_OPTION = { nullable: true, usesDefault: false, column: null, filter: false } as const;

/**
 * A constructed inventory with the options of its source
 * (docs/contract/constructed-inventories.md).
 */
export class ConstructedInventory extends Inventory {
  @Choices(INVENTORY_KINDS, { readOnly: true, help: 'Kind of inventory.' })
  override kind!: string;

  @Char({ nullable: true, max: 4096, internal: true })
  override host_filter!: string | null;

  @Variables({
    ...SOURCE_OPTION,
    ...describedAs('string'),
    help: 'Options of the constructed plugin: compose, groups, keyed_groups, strict; JSON or YAML.',
  })
  source_vars!: string | null;

  @Integer({ ...SOURCE_OPTION, min: 0, help: 'Seconds for which an update counts as fresh.' })
  update_cache_timeout!: number | null;

  @Text({ ...SOURCE_OPTION, control: 'line', help: 'Host pattern for the imported hosts.' })
  limit!: string | null;

  @Choices(SOURCE_VERBOSITIES, { ...SOURCE_OPTION, help: 'Verbosity of the output of updates.' })
  verbosity!: number | null;
}
