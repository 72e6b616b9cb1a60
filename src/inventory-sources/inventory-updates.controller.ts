import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { RunEventsController } from '../runs/events/run-events.controller.js';
import { LiveEventsController } from '../runs/live/live-events.controller.js';
import { StdoutController } from '../runs/output/stdout.controller.js';
import { RunController } from '../runs/run.controller.js';
import { inventoryUpdates } from './inventory-updates.resource.js';
import { credentialOf } from './source-credentials.service.js';

@Resource(inventoryUpdates)
@SubList('credentials', credentialOf())
@SubList('notifications', children('notifications', { readOnly: true }))
export class InventoryUpdatesController extends RunController(inventoryUpdates) {}

@Resource(inventoryUpdates, 'api/v2/inventory_updates/:id/events')
export class InventoryUpdateEventListController extends RunEventsController {
  protected readonly runs = inventoryUpdates;
}

@Resource(inventoryUpdates, 'api/v2/inventory_updates/:id/stdout')
export class InventoryUpdateStdoutController extends StdoutController {
  protected readonly runs = inventoryUpdates;
}

@Resource(inventoryUpdates, 'api/v2/inventory_updates/:id/events/stream')
export class InventoryUpdateLiveEventsController extends LiveEventsController {
  protected readonly runs = inventoryUpdates;
}
