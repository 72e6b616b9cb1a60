import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { notificationAttempts } from './notification-templates.resource.js';

@Resource(notificationAttempts)
export class NotificationAttemptsController extends ResourceController(notificationAttempts, [
  'list',
  'retrieve',
]) {}
