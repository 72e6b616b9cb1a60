import { defineResource } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { inventories } from '../inventories/inventories.resource.js';
import { InventoryHooks } from '../inventories/inventory.hooks.js';
import {
  ConstructedInventoryExtension,
  CONSTRUCTED_SHOWS,
} from './constructed-inventory.extension.js';
import { ConstructedInventory } from './constructed-inventory.entity.js';

const { policy, capabilities, summary, summarize, unhidden, relations, aliases } = inventories;

/** The constructed inventories, under a URL of their own with the options of their source. */
export const constructedInventories = defineResource({
  path: 'constructed_inventories',
  type: 'constructed_inventory',
  entity: ConstructedInventory,
  part: (alias) => sql`${ident(alias, 'kind')} = 'constructed'`,
  policy,
  capabilities,
  relations,
  aliases,
  summary,
  ...(summarize ? { summarize } : {}),
  ...(unhidden ? { unhidden } : {}),
  hooks: InventoryHooks,
  deletesLater: true,
  pages: {
    sections: {
      Source: ['source_vars', 'limit', 'update_cache_timeout', 'verbosity'],
      Contents: ['variables', 'prevent_instance_group_fallback'],
    },
  },
  extension: ConstructedInventoryExtension,
  shows: CONSTRUCTED_SHOWS,
});
