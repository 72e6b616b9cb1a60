import { Module } from '@nestjs/common';

/** Posts statuses back to code hosts; only in the worker process. */
@Module({})
export class WebhooksWorkerModule {}
