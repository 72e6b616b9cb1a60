import { Delete, Get, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import type { Actor } from '../common/access.js';
import { MethodNotAllowed } from '../common/errors/errors.js';
import * as json from '../common/fields/json-schema.js';
import { itemAt } from '../common/invariants.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { children, related, SubList } from '../common/rest/sublist.js';
import { attachNotifications } from '../notifications/sublists.js';
import { launchedReply } from '../runs/launched-reply.js';
import { startedBy } from '../runs/launcher.js';
import { SourceObjects } from './source-objects.service.js';
import type { InventorySource } from './inventory-source.entity.js';
import { inventorySources } from './inventory-sources.resource.js';
import { canUpdate, InventoryUpdateLauncher } from './inventory-update-launcher.service.js';
import { inventoryUpdates } from './inventory-updates.resource.js';
import { credentialOfSource } from './source-credentials.service.js';

@Resource(inventorySources)
@SubList('inventory_updates', children('inventory_updates', { readOnly: true }))
@SubList('credentials', credentialOfSource())
@SubList('schedules', children('schedules'))
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('hosts', related('hosts'))
@SubList('groups', related('groups'))
@SubList('activity_stream', activityOf())
export class InventorySourcesController extends ResourceController(inventorySources) {
  constructor(
    private readonly launcher: InventoryUpdateLauncher,
    private readonly imported: SourceObjects,
  ) {
    super();
  }

  @Route({
    parent: inventorySources,
    needs: 'change',
    operationId: 'inventory_sources_hosts_destroy',
    summary: 'Delete all hosts that one inventory source delivered.',
  })
  @Delete(':id/hosts')
  removeHosts(@Target() source: Row): Promise<void> {
    return this.imported.remove(source, 'hosts');
  }

  @Route({
    parent: inventorySources,
    needs: 'change',
    operationId: 'inventory_sources_groups_destroy',
    summary: 'Delete all groups that one inventory source delivered.',
  })
  @Delete(':id/groups')
  removeGroups(@Target() source: Row): Promise<void> {
    return this.imported.remove(source, 'groups');
  }

  @Route({
    parent: inventorySources,
    link: 'update',
    operationId: 'inventory_sources_can_update',
    summary: 'Return whether the source can be updated.',
    response: json.object({
      can_update: json.described(json.BOOLEAN, 'True if an update can be started.'),
    }),
  })
  @Get(':id/update')
  canUpdate(@Target() source: RowOf<InventorySource>): object {
    return { can_update: canUpdate(source) };
  }

  @Idempotent()
  @Route({
    parent: inventorySources,
    needs: 'update',
    resource: inventoryUpdates,
    adds: { inventory_update: json.WIDE_INTEGER },
    operationId: 'inventory_sources_update_start',
    summary: 'Update the inventory from the source.',
    status: 202,
  })
  @Post(':id/update')
  async update(
    @Target() source: RowOf<InventorySource>,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    if (!canUpdate(source)) throw new MethodNotAllowed('POST');
    const request = { templateId: source.id, ...startedBy(actor) };
    const run = itemAt(await this.launcher.launch([request], actor), 0);
    return launchedReply(this.services.resources, run, actor);
  }
}
