import { Module } from '@nestjs/common';

/** Scheduler, runner and clean-up: what only the worker process does with runs. */
@Module({})
export class JobsWorkerModule {}
