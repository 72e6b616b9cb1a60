import { ResourceController } from '../../common/rest/resource.controller.js';
import { Resource } from '../../common/rest/resource.decorator.js';
import { adHocCommandEvents } from './ad-hoc-command-events.resource.js';

@Resource(adHocCommandEvents)
export class AdHocCommandEventsController extends ResourceController(adHocCommandEvents, [
  'retrieve',
]) {}
