import { ResourceController } from '../../common/rest/resource.controller.js';
import { Resource } from '../../common/rest/resource.decorator.js';
import { inventoryUpdateEvents } from './plain-events.resource.js';

@Resource(inventoryUpdateEvents)
export class InventoryUpdateEventsController extends ResourceController(inventoryUpdateEvents, [
  'retrieve',
]) {}
