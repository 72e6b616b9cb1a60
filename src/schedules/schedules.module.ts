import { Global, Module } from '@nestjs/common';
import { RunSchedules } from '../runs/run-causes.js';
import { JobScheduleController } from './job-schedule.controller.js';
import { JobSchedules } from './job-schedules.service.js';
import { NextLaunches } from './next-launches.service.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { SchedulesRepository } from './schedules.repository.js';
import { SchedulesController } from './schedules.controller.js';

@Global()
@Module({
  controllers: [SchedulesController, JobScheduleController],
  providers: [
    SchedulesRepository,
    { provide: RunSchedules, useExisting: SchedulesRepository },
    ScheduleHooks,
    NextLaunches,
    JobSchedules,
  ],
  exports: [SchedulesRepository, RunSchedules, NextLaunches],
})
export class SchedulesModule {}
