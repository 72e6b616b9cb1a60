import { Module } from '@nestjs/common';

/** Sends notifications; only in the worker process. */
@Module({})
export class NotificationsWorkerModule {}
