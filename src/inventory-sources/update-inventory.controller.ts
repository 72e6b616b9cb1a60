import { Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import * as json from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import type { Row } from '../common/resource/define-resource.js';
import { represent } from '../common/resource/representation.js';
import { RepresentContexts } from '../common/resource/represent-contexts.service.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { inventories } from '../inventories/inventories.resource.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { canUpdate, InventoryUpdateLauncher } from './inventory-update-launcher.service.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { inventoryUpdates } from './inventory-updates.resource.js';

const COULD_NOT_START = 'Could not start because `can_update` returned False';
/** Response schema: an entry for each source, with the other fields of the started update. */
const STARTS = json.list({
  ...json.object(
    { inventory_source: json.INTEGER, inventory_update: json.WIDE_INTEGER, status: json.STRING },
    ['inventory_update'],
  ),
  additionalProperties: json.anyValue('Another field of the update that was started.'),
});

/** Updates all sources of an inventory (docs/contract/inventory-sources.md#all-sources). */
@ApiTags('inventories')
@Controller('api/v2/inventories/:id/update_inventory_sources')
export class UpdateInventoryController {
  constructor(
    private readonly sources: InventorySourcesRepository,
    private readonly launcher: InventoryUpdateLauncher,
    private readonly updates: InventoryUpdatesRepository,
    private readonly contexts: RepresentContexts,
  ) {}

  @Route({
    parent: inventories,
    link: 'update_inventory_sources',
    operationId: 'inventories_update_inventory_sources_read',
    summary: 'Shows for each source of the inventory if it can be updated.',
    response: json.list(
      json.object({
        inventory_source: json.INTEGER,
        can_update: json.described(json.BOOLEAN, 'True if an update can be started.'),
      }),
    ),
  })
  @Get()
  async canUpdate(@Target() inventory: Row): Promise<object[]> {
    const sources = await this.sources.startableOf(inventory.id);
    return sources.map((source) => ({
      inventory_source: source.id,
      can_update: canUpdate(source),
    }));
  }

  @Idempotent()
  @Route({
    parent: inventories,
    needs: 'update',
    operationId: 'inventories_update_inventory_sources',
    summary:
      'Update the inventory from all its sources: 200 if all updates started, 202 if some, 400 if none.',
    status: 202,
    response: STARTS,
    alternatives: [{ status: 200, description: 'All were started.', response: STARTS }],
  })
  @Post()
  async update(@Target() inventory: Row, @CurrentActor() actor: Actor): Promise<Reply> {
    const started = await this.launcher.launchAll(inventory.id, actor);
    if (started.length === 0) throw new BadRequest('No inventory sources to update.');
    const shown = await this.shown(
      started.flatMap(({ updateId }) => updateId ?? []),
      actor,
    );
    const failed = started.filter(({ updateId }) => updateId === null).length;
    const status = failed === 0 ? 200 : failed < started.length ? 202 : 400;
    return new Reply(
      status,
      started.map(({ sourceId, updateId }) =>
        updateId === null
          ? { inventory_source: sourceId, status: COULD_NOT_START }
          : {
              ...shown.get(updateId),
              inventory_source: sourceId,
              inventory_update: updateId,
              status: 'started',
            },
      ),
    );
  }

  private async shown(ids: readonly number[], actor: Actor): Promise<Map<unknown, object>> {
    const rows = await this.updates.complete(ids, actor);
    const shown = await represent(inventoryUpdates, rows, this.contexts.of(actor, true));
    return new Map(shown.map((update) => [update.id, update]));
  }
}
