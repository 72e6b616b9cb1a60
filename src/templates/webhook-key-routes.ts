import { RequestMethod } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { object, STRING } from '../common/fields/json-schema.js';
import { addRoute } from '../common/rest/add-route.js';
import type {
  GenericController,
  GenericControllerClass,
} from '../common/rest/resource.controller.js';
import { WebhookKeys } from './webhook-keys.js';

/**
 * Declares `/<templates>/<id>/webhook_key/`: GET shows the key, POST replaces it
 * (docs/contract/webhooks.md#key). Both need what the policy calls `manage_webhook_key`.
 */
export function WithWebhookKey(): ClassDecorator {
  return (target) => {
    const controller = target as unknown as GenericControllerClass;
    const { definition } = controller;
    const action = 'manage_webhook_key';
    const path = ':id/webhook_key';
    const info = {
      access: 'authenticated',
      parent: definition,
      needs: action,
      response: object({ webhook_key: STRING }),
    } as const;
    definition.links.set('webhook_key', 'webhook_key');
    addRoute(controller, 'webhook_key_read', {
      method: RequestMethod.GET,
      path,
      info: {
        ...info,
        kind: 'document',
        operationId: `${definition.path}_webhook_key_read`,
        summary: 'The key that the code hosting service signs with. For admins of the template.',
      },
      handler: async function (this: GenericController, { params, actor }) {
        const { resources } = this.machinery;
        const template = await resources.load(definition, params.id, actor, { action });
        return { webhook_key: this.machinery.find(WebhookKeys).open(template) };
      } as (request: ApiRequest) => Promise<unknown>,
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
      handler: function (this: GenericController, { params, actor }) {
        const { database, resources } = this.machinery;
        return database.transaction(async () => {
          const lock = true;
          const template = await resources.load(definition, params.id, actor, { action, lock });
          const key = await this.machinery.find(WebhookKeys).rotate(definition, template);
          return Reply.created({ webhook_key: key }, `${definition.url(template.id)}webhook_key/`);
        });
      } as (request: ApiRequest) => Promise<unknown>,
    });
  };
}
