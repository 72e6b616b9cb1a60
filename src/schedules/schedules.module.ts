import { Module } from '@nestjs/common';
import { JobScheduleController } from './job-schedule.controller.js';
import { JobSchedules } from './job-schedules.service.js';
import { NextLaunches } from './next-launches.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { SchedulesRepository } from './schedules.repository.js';
import { SchedulesController } from './schedules.controller.js';

@Module({
  controllers: [SchedulesController, JobScheduleController],
  providers: [SchedulesRepository, ScheduleHooks, NextLaunches, JobSchedules],
  exports: [SchedulesRepository, NextLaunches],
})
export class SchedulesModule {}
