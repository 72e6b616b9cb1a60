import { Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { resourceOf } from '../common/rest/resource.controller.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route } from '../common/rest/route.js';
import { Database } from '../database/database.js';
import { WebhookKeys } from './webhook-keys.service.js';

const routeOf = (templates: ResourceDefinition) =>
  ({
    parent: templates,
    needs: 'manage_webhook_key',
    showsSecret: true,
    response: json.object({
      webhook_key: json.described(json.STRING, 'Key that the code host signs with.'),
    }),
  }) as const;

/** Key that signs webhooks of a template (docs/contract/webhooks.md#key). */
@Controller()
export abstract class WebhookKeyController {
  private readonly templates = resourceOf(this);

  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly keys: WebhookKeys,
  ) {}

  @Route((templates) => ({
    ...routeOf(templates),
    link: 'webhook_key',
    operationId: `${templates.path}_webhook_key_read`,
    summary: 'The key that the code hosting service signs with. For admins of the template.',
  }))
  @Get()
  read(@Target() template: Row): object {
    return { webhook_key: this.keys.open(template) };
  }

  @Route((templates) => ({
    ...routeOf(templates),
    operationId: `${templates.path}_webhook_key_rotate`,
    summary: 'Replace the webhook key; the former one stops working.',
    status: 201,
  }))
  @Post()
  rotate(@Target() target: Row, @CurrentActor() actor: Actor): Promise<Reply> {
    return this.database.transaction(async () => {
      const template = await this.resources.lock(this.templates, target, actor);
      const key = await this.keys.rotate(this.templates, template);
      return Reply.located({ webhook_key: key }, `${this.templates.url(template.id)}webhook_key/`);
    });
  }
}
