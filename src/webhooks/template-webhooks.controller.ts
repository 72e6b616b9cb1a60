import { RequestMethod, type Type } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { addRoute } from '../common/resource/add-route.js';
import type { ResourceDefinition } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import {
  ResourceController,
  type GenericController,
} from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { listOf } from '../common/resource/sublist-kinds.js';
import { sql } from '../database/sql.js';
import { WebhookKeys } from '../templates/webhook-keys.js';
import { FilterTrial } from './filter-trial.service.js';
import { RECEIVER_ANSWER } from './receiver.controller.js';
import type { ReceiverKind } from './receiver-kinds.js';
import { RedeliveryService } from './redelivery.service.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';

/** A key is as good as the role to launch with any payload: administrators alone see it. */
const KEY_ACTION = 'manage_webhook_key';
const KEY_ANSWER = { type: 'object', properties: { webhook_key: { type: 'string' } } };

/** The key, the ledger and the filters of one template: `/api/v2/<templates>/<id>/webhook_…/`. */
export function templateWebhooksController(kind: ReceiverKind): Type {
  const { type } = kind;
  const templates = resource(type);
  const Templates = ResourceController(templates, []);
  Object.defineProperty(Templates, 'name', { value: `${type}_webhooks` });
  const deliveries = listOf(
    () => webhookDeliveries,
    (template) => sql`t.template_id = ${template.id}`,
  );
  SubList('webhook_deliveries', deliveries)(Templates);
  declareKey(Templates, templates);
  declareRedeliver(Templates, templates);
  declareFilterTest(Templates, templates, kind);
  Resource(templates)(Templates);
  return Templates;
}

function declareKey(target: Type, templates: ResourceDefinition): void {
  const info = { access: 'authenticated', parent: templates, needs: KEY_ACTION } as const;
  templates.links.set('webhook_key', 'webhook_key');
  addRoute(target, 'webhook_key', {
    method: RequestMethod.GET,
    path: ':id/webhook_key',
    info: {
      ...info,
      kind: 'document',
      operationId: `${templates.path}_webhook_key_read`,
      summary: 'The key that the code hosting service signs with. For admins of the template.',
      response: KEY_ANSWER,
    },
    handler: async function (this: GenericController, { params, actor }: ApiRequest) {
      const { resources } = this.machinery;
      const template = await resources.load(templates, params.id, actor, { action: KEY_ACTION });
      return { webhook_key: this.machinery.find(WebhookKeys).open(template) };
    },
  });
  addRoute(target, 'rotate_webhook_key', {
    method: RequestMethod.POST,
    path: ':id/webhook_key',
    info: {
      ...info,
      kind: 'action',
      operationId: `${templates.path}_webhook_key_rotate`,
      summary: 'Replace the webhook key; the former one stops working.',
      status: 201,
      response: KEY_ANSWER,
    },
    handler: function (this: GenericController, { params, actor }: ApiRequest) {
      const { database, resources } = this.machinery;
      return database.transaction(async () => {
        const asked = { action: KEY_ACTION, lock: true };
        const template = await resources.load(templates, params.id, actor, asked);
        const key = await this.machinery.find(WebhookKeys).rotate(templates, template);
        return Reply.created({ webhook_key: key }, `${templates.url(template.id)}webhook_key/`);
      });
    },
  });
}

function declareRedeliver(target: Type, templates: ResourceDefinition): void {
  addRoute(target, 'redeliver', {
    method: RequestMethod.POST,
    path: ':id/webhook_deliveries/:delivery/redeliver',
    info: {
      kind: 'action',
      access: 'authenticated',
      operationId: `${templates.path}_webhook_deliveries_redeliver`,
      summary: 'Send a delivery of one template through it again.',
      parent: templates,
      needs: 'change',
      status: 202,
      response: RECEIVER_ANSWER,
    },
    handler: async function (this: GenericController, request: ApiRequest) {
      const { id, delivery = '' } = request.params;
      const template = await this.machinery.resources.load(templates, id, request.actor);
      return this.machinery.find(RedeliveryService).redeliver(request, delivery, template.id);
    },
  });
}

function declareFilterTest(target: Type, templates: ResourceDefinition, kind: ReceiverKind): void {
  addRoute(target, 'test_webhook_filters', {
    method: RequestMethod.POST,
    path: ':id/webhook_filters/test',
    info: {
      kind: 'action',
      access: 'authenticated',
      operationId: `${templates.path}_webhook_filters_test`,
      summary:
        "Tell which stored deliveries would have launched, by the template's filters or others.",
      parent: templates,
      needs: 'change',
      body: templates.fields.filter(({ name }) => name === 'webhook_filters'),
      response: TRIAL_ANSWER,
    },
    handler: async function (this: GenericController, { params, body, actor }: ApiRequest) {
      const template = await this.machinery.resources.load(templates, params.id, actor, {
        action: 'change',
      });
      const filters = body.webhook_filters ?? template.webhook_filters ?? {};
      return this.machinery.find(FilterTrial).run(template.id, kind, filters);
    },
  });
}

const TRIAL_ANSWER = {
  type: 'object',
  properties: {
    launches: { type: 'integer', description: 'Deliveries that would have launched.' },
    count: { type: 'integer', description: 'Deliveries that were looked at, the newest.' },
    results: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          delivery: { type: 'integer' },
          received: { type: 'string', format: 'date-time' },
          event: { type: 'string' },
          ref_name: { type: 'string', nullable: true },
          verdict: { type: 'string', description: 'What became of it when it came.' },
          launches: { type: 'boolean' },
          reason: { type: 'string', description: 'Why it would not have launched.' },
        },
      },
    },
  },
};
