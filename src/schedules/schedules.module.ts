import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobTemplatesModule } from '../job-templates/job-templates.module.js';
import { LaunchingModule } from '../launching/launching.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { JobScheduleController } from './job-schedule.controller.js';
import { JobSchedules } from './job-schedules.service.js';
import { NextLaunches } from './next-launches.service.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { SchedulesRepository } from './schedules.repository.js';
import { SchedulesController } from './schedules.controller.js';
import {
  Schedule,
  ScheduleCredential,
  ScheduleInstanceGroup,
  ScheduleLabel,
} from './schedule.entity.js';
import { ScheduleExtension } from './schedule.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Schedule, ScheduleCredential, ScheduleInstanceGroup, ScheduleLabel]),
    JobTemplatesModule,
    LaunchingModule,
    RunsModule,
    TemplatesModule,
  ],
  controllers: [SchedulesController, JobScheduleController],
  providers: [ScheduleExtension, SchedulesRepository, ScheduleHooks, NextLaunches, JobSchedules],
  exports: [SchedulesRepository, NextLaunches],
})
export class SchedulesModule {}
