import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LaunchingModule } from '../launching/launching.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { DeliveryIntake } from './delivery-intake.service.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { FilterTester } from './filter-tester.service.js';
import { PushCoalescer } from './push-coalescer.service.js';
import {
  JobTemplateReceiverController,
  ProjectReceiverController,
  WorkflowJobTemplateReceiverController,
} from './receiver.controllers.js';
import { ReceiverService } from './receiver.service.js';
import { ReceiverTemplates } from './receiver-templates.service.js';
import { RedeliveryService } from './redelivery.service.js';
import { RejectionLog } from './rejection-log.service.js';
import {
  JobStatusPostsController,
  ProjectUpdateStatusPostsController,
  WorkflowJobStatusPostsController,
} from './run-status-posts.controllers.js';
import { SignatureVerifier } from './signature-verifier.service.js';
import { SignatureGuard } from './signature.guard.js';
import { StatusPostsListener } from './status-posts.listener.js';
import { StatusPostsRepository } from './status-posts.repository.js';
import {
  JobTemplateWebhooksController,
  ProjectWebhooksController,
  WorkflowJobTemplateWebhooksController,
} from './template-webhooks.controllers.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookSetups } from './webhook-setups.service.js';
import { WebhookStatusPostsController } from './webhook-status-posts.controller.js';
import { WebhookDelivery, WebhookDeliveryTotal } from './webhook-delivery.entity.js';
import { WebhookStatusPost } from './webhook-status-post.entity.js';

/** Receivers, the delivery log, and status posts. */
@Module({
  imports: [
    TypeOrmModule.forFeature([WebhookDelivery, WebhookDeliveryTotal, WebhookStatusPost]),
    LaunchingModule,
    RunsModule,
    TemplatesModule,
  ],
  controllers: [
    JobTemplateReceiverController,
    WorkflowJobTemplateReceiverController,
    ProjectReceiverController,
    JobTemplateWebhooksController,
    WorkflowJobTemplateWebhooksController,
    ProjectWebhooksController,
    JobStatusPostsController,
    WorkflowJobStatusPostsController,
    ProjectUpdateStatusPostsController,
    WebhookDeliveriesController,
    WebhookStatusPostsController,
  ],
  providers: [
    ReceiverTemplates,
    RejectionLog,
    SignatureVerifier,
    SignatureGuard,
    WebhookDeliveriesRepository,
    PushCoalescer,
    DeliveryIntake,
    ReceiverService,
    RedeliveryService,
    FilterTester,
    WebhookSetups,
    StatusPostsRepository,
    StatusPostsListener,
  ],
  exports: [WebhookDeliveriesRepository, StatusPostsRepository],
})
export class WebhooksModule {}
