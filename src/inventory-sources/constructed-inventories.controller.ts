import { Body, Patch, Post, Put } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { validate } from '../common/fields/validation.js';
import { existing } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Representation } from '../common/resource/representation.js';
import type { Values } from '../common/rest/hooks.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { inventories } from '../inventories/inventories.resource.js';
import { constructedInventories } from './constructed-inventories.resource.js';
import { ConstructedInventory } from './constructed-inventory.entity.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { inventorySources } from './inventory-sources.resource.js';
import { CONSTRUCTED_OPTIONS } from './source-checks.js';
import { CONSTRUCTED } from './source-kinds.js';

const { fields } = constructedInventories;
const ROUTE = { resource: constructedInventories, body: fields } as const;

/**
 * Constructed inventories with the options of their source. Writes change the inventory and its
 * source, by the rules of each.
 */
@Resource(constructedInventories)
export class ConstructedInventoriesController extends ResourceController(constructedInventories, [
  'list',
  'retrieve',
  'destroy',
]) {
  constructor(private readonly sources: InventorySourcesRepository) {
    super();
  }

  @Route({
    ...ROUTE,
    kind: 'create',
    operationId: 'constructed_inventories_create',
    summary: 'Create one constructed inventory.',
  })
  @Post()
  create(@Body() body: Values, @CurrentActor() actor: Actor): Promise<object> {
    const { inventoryValues, options } = split(validate(ConstructedInventory, body));
    return this.services.database.transaction(async () => {
      const values = { ...inventoryValues, kind: CONSTRUCTED.value, host_filter: null };
      const { id } = await this.services.resources.insert(inventories, values, actor);
      await this.changeSource(id, options, actor);
      return this.shown(id, actor);
    });
  }

  @Route({
    ...ROUTE,
    parent: constructedInventories,
    needs: 'change',
    operationId: 'constructed_inventories_replace',
    summary: 'Replace one constructed inventory.',
  })
  @Put(':id')
  replace(
    @Target() row: Row,
    @Body() body: Values,
    @CurrentActor() actor: Actor,
  ): Promise<Representation> {
    return this.change(row, validate(ConstructedInventory, body), actor);
  }

  @Route({
    ...ROUTE,
    parent: constructedInventories,
    needs: 'change',
    operationId: 'constructed_inventories_modify',
    summary: 'Change one constructed inventory.',
  })
  @Patch(':id')
  modify(
    @Target() row: Row,
    @Body() body: Values,
    @CurrentActor() actor: Actor,
  ): Promise<Representation> {
    return this.change(row, validate(ConstructedInventory, body, { partial: true }), actor);
  }

  private change(target: Row, values: Values, actor: Actor): Promise<Representation> {
    const { resources, database } = this.services;
    const { inventoryValues, options } = split(values);
    return database.transaction(async () => {
      const before = await resources.lock(inventories, target, actor);
      await resources.change(inventories, before, inventoryValues, actor);
      await this.changeSource(target.id, options, actor);
      return this.shown(target.id, actor);
    });
  }

  private async changeSource(inventoryId: number, options: Values, actor: Actor): Promise<void> {
    if (Object.keys(options).length === 0) return;
    const { resources } = this.services;
    const [hidden] = await this.sources.hiddenOf([inventoryId]);
    const source = existing(hidden, 'a constructed inventory has its source');
    const before = await resources.lock(inventorySources, source, actor);
    await resources.change(inventorySources, before, options, actor);
  }

  private async shown(id: number, actor: Actor): Promise<Representation> {
    const { resources } = this.services;
    const row = await resources.load(constructedInventories, id, actor);
    return resources.show(constructedInventories, row, actor);
  }
}

/**
 * Splits a request into the fields of the inventory and those of its source; null leaves an option
 * unchanged.
 */
function split(values: Values): { inventoryValues: Values; options: Values } {
  const names: readonly string[] = CONSTRUCTED_OPTIONS;
  const isOption = ([name]: [string, unknown]): boolean => names.includes(name);
  const entries = Object.entries(values);
  const sent = entries.filter(([, value]) => value !== null && value !== undefined);
  return {
    inventoryValues: Object.fromEntries(entries.filter((entry) => !isOption(entry))),
    options: Object.fromEntries(sent.filter(isOption)),
  };
}
