import { Module } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { StatusPostComposer } from './status-post-composer.service.js';
import { StatusPoster } from './status-poster.handler.js';
import { StatusPostsProcessor } from './status-posts.processor.js';
import { WebhooksModule } from './webhooks.module.js';

/** Posts statuses to code hosts; only loaded in the worker process. */
@Module({
  imports: [OutboundModule, CredentialsModule, WebhooksModule],
  providers: [StatusPostComposer, StatusPoster, StatusPostsProcessor],
})
export class WebhooksWorkerModule {}
