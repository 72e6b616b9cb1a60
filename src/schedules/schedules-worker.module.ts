import { Module } from '@nestjs/common';
import { LaunchingModule } from '../launching/launching.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { DueSchedules } from './due-schedules.service.js';
import { SchedulesModule } from './schedules.module.js';

/** Launches due schedules; only loaded in the worker process. */
@Module({
  imports: [LaunchingModule, RunsModule, SchedulesModule],
  providers: [DueSchedules],
  exports: [DueSchedules],
})
export class SchedulesWorkerModule {}
