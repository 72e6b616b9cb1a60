import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { activityStream } from './activity.resource.js';

@Resource(activityStream)
export class ActivityController extends ResourceController(activityStream, ['list', 'retrieve']) {}
