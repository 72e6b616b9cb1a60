import { Resource, ResourceController } from '../../common/rest/resource.controller.js';
import { inventoryUpdateEvents } from './plain-events.resource.js';

@Resource(inventoryUpdateEvents)
export class InventoryUpdateEventsController extends ResourceController(inventoryUpdateEvents, [
  'retrieve',
]) {}
