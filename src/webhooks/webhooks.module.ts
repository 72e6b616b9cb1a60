import { Module } from '@nestjs/common';
import { DeliveryIntake } from './delivery-intake.service.js';
import { DeliveryLedger } from './delivery-ledger.service.js';
import { FilterTrial } from './filter-trial.service.js';
import { PushCoalescer } from './push-coalescer.service.js';
import { receiverController } from './receiver.controller.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { ReceiverService } from './receiver.service.js';
import { ReceiverTemplates } from './receiver-templates.js';
import { RedeliveryService } from './redelivery.service.js';
import { RejectionLog } from './rejection-log.js';
import { RunLauncher } from './run-launcher.service.js';
import { runStatusPostsController } from './run-status-posts.controller.js';
import { SignatureVerifier } from './signature-verifier.js';
import { SignatureGuard } from './signature.guard.js';
import { StatusPostsListener } from './status-posts.listener.js';
import { StatusPostsStore } from './status-posts.store.js';
import { templateWebhooksController } from './template-webhooks.controller.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookStatusPostsController } from './webhook-status-posts.controller.js';

/** Receivers, the ledger of deliveries, and what is to be posted back. */
@Module({
  controllers: [
    ...RECEIVER_KINDS.map(receiverController),
    ...RECEIVER_KINDS.map(templateWebhooksController),
    ...RECEIVER_KINDS.map(runStatusPostsController),
    WebhookDeliveriesController,
    WebhookStatusPostsController,
  ],
  providers: [
    ReceiverTemplates,
    RejectionLog,
    SignatureVerifier,
    SignatureGuard,
    DeliveryLedger,
    PushCoalescer,
    RunLauncher,
    DeliveryIntake,
    ReceiverService,
    RedeliveryService,
    FilterTrial,
    StatusPostsStore,
    StatusPostsListener,
  ],
  exports: [StatusPostsStore],
})
export class WebhooksModule {}
