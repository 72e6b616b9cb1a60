import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import { RunsModule } from '../runs/runs.module.js';
import { SystemJobLauncher } from './system-job-launcher.service.js';
import { SystemJobTemplatesController } from './system-job-templates.controller.js';
import * as runs from './system-jobs.controller.js';
import { SystemJobsRepository } from './system-jobs.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([UnifiedJob]), RunsModule],
  controllers: [
    SystemJobTemplatesController,
    runs.SystemJobsController,
    runs.SystemJobOutputController,
  ],
  providers: [SystemJobsRepository, SystemJobLauncher],
  exports: [SystemJobsRepository, SystemJobLauncher],
})
export class SystemJobsModule {}
