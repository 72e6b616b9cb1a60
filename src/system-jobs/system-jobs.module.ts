import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import { RunsModule } from '../runs/runs.module.js';
import { SystemJobLauncher } from './system-job-launcher.service.js';
import * as controllers from './system-jobs.controllers.js';
import { SystemJobsRepository } from './system-jobs.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([UnifiedJob]), RunsModule],
  controllers: [
    controllers.SystemJobTemplatesController,
    controllers.SystemJobsController,
    controllers.SystemJobEventListController,
    controllers.SystemJobStdoutController,
    controllers.SystemJobLiveEventsController,
  ],
  providers: [SystemJobsRepository, SystemJobLauncher],
  exports: [SystemJobsRepository, SystemJobLauncher],
})
export class SystemJobsModule {}
