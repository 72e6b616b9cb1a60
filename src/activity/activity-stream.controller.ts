import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { activityStream } from './activity.resource.js';

@Resource(activityStream)
export class ActivityStreamController extends ResourceController(activityStream, [
  'list',
  'retrieve',
]) {}
