import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { zip } from '../common/invariants.js';
import * as json from '../common/fields/json-schema.js';
import { represent } from '../common/resource/representation.js';
import { inventories } from '../inventories/inventories.resource.js';
import { INVENTORY_SHOWS } from '../inventories/inventory.extensions.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { CONSTRUCTED_OPTIONS } from './source-checks.js';

export const CONSTRUCTED_SHOWS: ShownMembers = {
  ...INVENTORY_SHOWS,
  fields: { ...INVENTORY_SHOWS.fields, type: json.described(json.STRING, 'Kind of this object.') },
  relatedOthers: json.STRING,
  summaryOthers: json.freeObject('Same as in the representation of the inventory.'),
};

/** Fields of the inventory's representation that the constructed inventory replaces or leaves out. */
const REPLACED_FIELDS: readonly string[] = ['url', 'related', 'summary_fields', 'host_filter'];

/** Adds all fields of the inventory itself and the options of its source. */
@Injectable()
export class ConstructedInventoryExtension {
  constructor(private readonly sources: InventorySourcesRepository) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const shown = await represent(inventories, rows, context);
    const sources = await this.sources.hiddenOf(rows.map(({ id }) => id));
    const optionsOf = new Map(sources.map((source) => [source.inventory_id, source]));
    return new Map(
      [...zip(rows, shown)].map(([{ id }, inventory]) => {
        const fields = Object.entries(inventory).filter(
          ([name]) => !REPLACED_FIELDS.includes(name),
        );
        const options = optionsOf.get(id);
        const sourceFields = CONSTRUCTED_OPTIONS.map((name) => [name, options?.[name]] as const);
        const { related, summary_fields } = inventory;
        return [
          id,
          { fields: Object.fromEntries([...fields, ...sourceFields]), related, summary_fields },
        ];
      }),
    );
  }
}
