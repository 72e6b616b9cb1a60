import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { notificationAttempts } from './notification-templates.resource.js';

@Resource(notificationAttempts)
export class NotificationAttemptsController extends ResourceController(notificationAttempts) {}
