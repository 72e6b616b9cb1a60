import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { webhookStatusPosts } from './webhook-status-posts.resource.js';

@Resource(webhookStatusPosts)
export class WebhookStatusPostsController extends ResourceController(webhookStatusPosts, [
  'list',
  'retrieve',
]) {}
