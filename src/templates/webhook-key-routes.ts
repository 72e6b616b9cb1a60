import { RequestMethod } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Reply } from '../common/http/reply.js';
import { object, STRING } from '../common/fields/json-schema.js';
import type { Row } from '../common/resource/define-resource.js';
import { addRoute } from '../common/rest/add-route.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { controllerOf, type GenericController } from '../common/rest/resource.controller.js';
import { WebhookKeys } from './webhook-keys.service.js';

/**
 * Declares `/<templates>/<id>/webhook_key/`: GET shows the key, POST replaces it
 * (docs/contract/webhooks.md#key). Both need what the policy calls `manage_webhook_key`.
 */
export function WithWebhookKey(): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    const path = ':id/webhook_key';
    const info = {
      access: 'authenticated',
      parent: definition,
      needs: 'manage_webhook_key',
      showsSecret: true,
      response: object({ webhook_key: STRING }),
    } as const;
    addRoute(controller, 'webhook_key_read', {
      method: RequestMethod.GET,
      path,
      info: {
        ...info,
        kind: 'document',
        link: 'webhook_key',
        operationId: `${definition.path}_webhook_key_read`,
        summary: 'The key that the code hosting service signs with. For admins of the template.',
      },
      parameters: [Target()],
      handler(this: GenericController, template: Row) {
        return { webhook_key: this.services.find(WebhookKeys).open(template) };
      },
    });
    addRoute(controller, 'webhook_key_rotate', {
      method: RequestMethod.POST,
      path,
      info: {
        ...info,
        kind: 'action',
        operationId: `${definition.path}_webhook_key_rotate`,
        summary: 'Replace the webhook key; the former one stops working.',
        status: 201,
      },
      parameters: [Target(), CurrentActor()],
      handler(this: GenericController, target: Row, actor: Actor) {
        const { database, resources } = this.services;
        return database.transaction(async () => {
          const template = await resources.lock(definition, target, actor);
          const key = await this.services.find(WebhookKeys).rotate(definition, template);
          return Reply.located({ webhook_key: key }, `${definition.url(template.id)}webhook_key/`);
        });
      },
    });
  };
}
