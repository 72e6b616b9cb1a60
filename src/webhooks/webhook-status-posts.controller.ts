import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { webhookStatusPosts } from './webhook-status-posts.resource.js';

@Resource(webhookStatusPosts)
export class WebhookStatusPostsController extends ResourceController(webhookStatusPosts, [
  'list',
  'retrieve',
]) {}
