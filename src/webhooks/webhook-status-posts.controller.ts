import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { webhookStatusPosts } from './webhook-status-posts.resource.js';

@Resource(webhookStatusPosts)
export class WebhookStatusPostsController extends ResourceController(webhookStatusPosts) {}
