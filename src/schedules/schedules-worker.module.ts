import { Global, Module } from '@nestjs/common';
import { ScheduleStep } from '../runs/schedule-step.js';
import { DueSchedules } from './due-schedules.service.js';
import { ScheduledRuns } from './scheduled-runs.service.js';
import { SchedulesModule } from './schedules.module.js';

/**
 * Registers the launching of schedules as a step of the scheduler; only loaded in the worker
 * process.
 */
@Global()
@Module({
  imports: [SchedulesModule],
  providers: [ScheduledRuns, { provide: ScheduleStep, useClass: DueSchedules }],
  exports: [ScheduleStep],
})
export class SchedulesWorkerModule {}
