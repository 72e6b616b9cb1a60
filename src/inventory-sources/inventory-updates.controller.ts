import { Resource } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { RunOutputAndEventsController } from '../runs/output/run-output.controller.js';
import { RunController } from '../runs/run.controller.js';
import { inventoryUpdates } from './inventory-updates.resource.js';
import { credentialOf } from './source-credentials.service.js';

@Resource(inventoryUpdates)
@SubList('credentials', credentialOf())
@SubList('notifications', children('notifications', { readOnly: true }))
export class InventoryUpdatesController extends RunController(inventoryUpdates) {}

@Resource(inventoryUpdates, 'api/v2/inventory_updates/:id')
export class InventoryUpdateOutputController extends RunOutputAndEventsController {}
