import { Resource, ResourceController } from '../../common/rest/resource.controller.js';
import { adHocCommandEvents } from './plain-events.resource.js';

@Resource(adHocCommandEvents)
export class AdHocCommandEventsController extends ResourceController(adHocCommandEvents, [
  'retrieve',
]) {}
