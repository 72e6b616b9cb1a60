import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { WithEvents } from '../runs/events/event-routes.js';
import { inventoryUpdateEvents } from '../runs/events/inventory-update-events.resource.js';
import { WithLiveEvents } from '../runs/live/live-events.js';
import { WithStdout } from '../runs/output/stdout-routes.js';
import { RunController } from '../runs/run.controller.js';
import { inventoryUpdates } from './inventory-updates.resource.js';
import { credentialOfUpdate } from './sublists.js';

@Resource(inventoryUpdates)
@WithEvents('events', inventoryUpdateEvents)
@WithStdout()
@WithLiveEvents(inventoryUpdateEvents)
@SubList('credentials', credentialOfUpdate())
@SubList('notifications', children('notifications', { readOnly: true }))
export class InventoryUpdatesController extends RunController(inventoryUpdates) {}
