import { Body, Controller, Get, Ip, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { forkRuleOf } from '../code-hosts/forks.js';
import type { BadRequest } from '../common/errors/errors.js';
import * as json from '../common/fields/json-schema.js';
import type { Reply } from '../common/http/reply.js';
import type { Page } from '../common/list/page.js';
import type { QueryParameters } from '../common/list/query.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import type { Representation } from '../common/resource/representation.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, ListParams, Member, Target } from '../common/rest/parameters.js';
import { Resource, resourceOf } from '../common/rest/resource.controller.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route } from '../common/rest/route.js';
import { sql } from '../database/sql.js';
import { jobTemplates } from '../job-templates/job-templates.resource.js';
import { projects } from '../projects/projects.resource.js';
import { workflowJobTemplates } from '../workflow-templates/workflow-job-templates.resource.js';
import { FilterTester } from './filter-tester.service.js';
import { RECEIVER_RESPONSE, RECEIVER_IGNORED } from './receiver-responses.js';
import { receiverKind } from './receiver-kinds.js';
import { RedeliveryService } from './redelivery.service.js';
import { WEBHOOK_SETUP, WebhookSetups } from './webhook-setups.service.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';

const TEST_RESPONSE = json.object({
  launches: { ...json.INTEGER, description: 'Number of deliveries that would launch a run.' },
  count: { ...json.INTEGER, description: 'Number of newest deliveries that were tested.' },
  results: json.described(
    json.list(
      json.object({
        delivery: json.WIDE_INTEGER,
        received: json.INSTANT,
        event: json.STRING,
        ref_name: json.orNull(json.STRING),
        verdict: { ...json.STRING, description: 'Result of the delivery when it was received.' },
        launches: json.BOOLEAN,
        reason: {
          ...json.STRING,
          description: 'Reason why the delivery would not launch a run; empty if it would.',
        },
      }),
    ),
    'Result for each delivery.',
  ),
});

/** Setup, delivery log, redelivery and filters of the webhooks of one template. */
@Controller()
abstract class TemplateWebhooksController {
  private readonly templates = resourceOf(this);

  constructor(
    private readonly resources: ResourceService,
    private readonly setups: WebhookSetups,
    private readonly redeliveries: RedeliveryService,
    private readonly tester: FilterTester,
  ) {}

  @Route((templates) => ({
    link: 'webhook',
    operationId: `${templates.path}_webhook`,
    summary:
      'Values to enter at the code host, with the secret. Only for administrators of the template.',
    parent: templates,
    needs: 'manage_webhook_key',
    showsSecret: true,
    response: WEBHOOK_SETUP,
  }))
  @Get(':id/webhook')
  setup(@Target() template: Row): Promise<object> {
    return this.setups.of(this.templates, receiverKind(this.templates.type), template);
  }

  @Route((templates) => ({
    kind: 'list',
    link: 'webhook_deliveries',
    operationId: `${templates.path}_webhook_deliveries_list`,
    summary: `Webhook deliveries of one ${templates.label.toLowerCase()}.`,
    resource: webhookDeliveries,
    parent: templates,
  }))
  @Get(':id/webhook_deliveries')
  deliveries(
    @Target() { id }: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    const options = { scope: sql`t.template_id = ${id}`, counted: true };
    return this.resources.list(webhookDeliveries, query, actor, options);
  }

  @Idempotent()
  @Route((templates) => ({
    operationId: `${templates.path}_webhook_deliveries_redeliver`,
    summary: 'Redeliver a webhook delivery of the template.',
    parent: templates,
    needs: 'change',
    member: {
      param: 'delivery',
      resource: webhookDeliveries,
      needs: 'redeliver',
      belongs: (delivery, template) => delivery.template_id === template.id,
    },
    status: 202,
    response: RECEIVER_RESPONSE,
    alternatives: RECEIVER_IGNORED,
  }))
  @Post(':id/webhook_deliveries/:delivery/redeliver')
  redeliver(
    @Member() delivery: RowOf<WebhookDelivery>,
    @Ip() address?: string,
  ): Promise<Reply | BadRequest> {
    return this.redeliveries.redeliver(delivery, address);
  }

  @Route((templates) => ({
    operationId: `${templates.path}_webhook_filters_test`,
    summary:
      'Test the filters of the template, or the filters in the body, against the stored deliveries.',
    parent: templates,
    needs: 'change',
    body: templates.fields.filter(({ name }) => name === 'webhook_filters'),
    response: TEST_RESPONSE,
  }))
  @Post(':id/webhook_filters/test')
  testFilters(@Target() template: Row, @Body() body: Record<string, unknown>): Promise<object> {
    const filters = body.webhook_filters ?? template.webhook_filters ?? {};
    const rules = { filters, forks: forkRuleOf(template) };
    return this.tester.run(template.id, receiverKind(this.templates.type), rules);
  }
}

@Resource(jobTemplates)
export class JobTemplateWebhooksController extends TemplateWebhooksController {}

@Resource(workflowJobTemplates)
export class WorkflowJobTemplateWebhooksController extends TemplateWebhooksController {}

@Resource(projects)
export class ProjectWebhooksController extends TemplateWebhooksController {}
