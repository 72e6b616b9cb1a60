import { Module } from '@nestjs/common';
import { JobScheduleController } from './job-schedule.controller.js';
import { JobSchedules } from './job-schedules.service.js';
import { NextLaunches } from './next-launches.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { SchedulesController } from './schedules.controller.js';

@Module({
  controllers: [SchedulesController, JobScheduleController],
  providers: [ScheduleHooks, NextLaunches, JobSchedules],
  exports: [NextLaunches],
})
export class SchedulesModule {}
