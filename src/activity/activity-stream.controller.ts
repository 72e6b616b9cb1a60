import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { activityStream } from './activity-stream.resource.js';

@Resource(activityStream)
export class ActivityStreamController extends ResourceController(activityStream) {}
