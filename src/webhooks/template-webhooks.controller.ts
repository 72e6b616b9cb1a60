import { Body, Ip, RequestMethod, type Type } from '@nestjs/common';
import { addRoute } from '../common/rest/add-route.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { Member, Target } from '../common/rest/parameters.js';
import type { ResourceDefinition, Row, RowOf } from '../common/resource/define-resource.js';
import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  list,
  object,
  orNull,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import { resource } from '../common/resource/registry.js';
import { ResourceController, type GenericController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { listOf } from '../common/rest/sublist-kinds.js';
import { sql } from '../database/sql.js';
import { forkRuleOf } from '../code-hosts/forks.js';
import { FilterTrial } from './filter-trial.service.js';
import { RECEIVER_ANSWER, RECEIVER_IGNORED } from './receiver.controller.js';
import type { ReceiverKind } from './receiver-kinds.js';
import { RedeliveryService } from './redelivery.service.js';
import { WEBHOOK_SETUP, WebhookSetups } from './webhook-setups.service.js';
import type { WebhookDeliverySchema } from './webhook-delivery.schema.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';

/** The ledger and the filters of one template: `/api/v2/<templates>/<id>/webhook_…/`. */
export function templateWebhooksController(kind: ReceiverKind): Type {
  const { type } = kind;
  const templates = resource(type);
  const Templates = ResourceController(templates, []);
  Object.defineProperty(Templates, 'name', { value: `${type}_webhooks` });
  const deliveries = listOf(
    () => webhookDeliveries,
    (template) => sql`t.template_id = ${template.id}`,
    { options: () => ({ counted: true }) },
  );
  SubList('webhook_deliveries', deliveries)(Templates);
  declareSetup(Templates, templates, kind);
  declareRedeliver(Templates, templates);
  declareFilterTest(Templates, templates, kind);
  Resource(templates)(Templates);
  return Templates;
}

function declareSetup(target: Type, templates: ResourceDefinition, kind: ReceiverKind): void {
  addRoute(target, 'webhook', {
    method: RequestMethod.GET,
    path: ':id/webhook',
    info: {
      kind: 'document',
      link: 'webhook',
      access: 'authenticated',
      operationId: `${templates.path}_webhook`,
      summary: 'What to enter at the code host, the key among it. For admins of the template.',
      parent: templates,
      needs: 'manage_webhook_key',
      showsSecret: true,
      response: WEBHOOK_SETUP,
    },
    parameters: [Target()],
    handler(this: GenericController, template: Row) {
      return this.services.find(WebhookSetups).of(templates, kind, template);
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
      member: {
        param: 'delivery',
        resource: webhookDeliveries,
        needs: 'redeliver',
        belongs: (delivery, template) => delivery.template_id === template.id,
      },
      status: 202,
      response: RECEIVER_ANSWER,
      alternatives: RECEIVER_IGNORED,
    },
    parameters: [Member(), Ip()],
    decorators: [Idempotent()],
    handler(this: GenericController, delivery: RowOf<WebhookDeliverySchema>, address?: string) {
      return this.services.find(RedeliveryService).redeliver(delivery, address);
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
    parameters: [Target(), Body()],
    handler(this: GenericController, template: Row, body: Record<string, unknown>) {
      const filters = body.webhook_filters ?? template.webhook_filters ?? {};
      const rules = { filters, forks: forkRuleOf(template) };
      return this.services.find(FilterTrial).run(template.id, kind, rules);
    },
  });
}

const TRIAL_ANSWER = object({
  launches: { ...INTEGER, description: 'Deliveries that would have launched.' },
  count: { ...INTEGER, description: 'Deliveries that were looked at, the newest.' },
  results: list(
    object({
      delivery: WIDE_INTEGER,
      received: INSTANT,
      event: STRING,
      ref_name: orNull(STRING),
      verdict: { ...STRING, description: 'What became of it when it came.' },
      launches: BOOLEAN,
      reason: { ...STRING, description: 'Why it would not have launched.' },
    }),
  ),
});
