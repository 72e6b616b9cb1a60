import { Module } from '@nestjs/common';
import { NextLaunches } from './next-launches.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { SchedulesController } from './schedules.controller.js';

@Module({
  controllers: [SchedulesController],
  providers: [ScheduleHooks, NextLaunches],
  exports: [NextLaunches],
})
export class SchedulesModule {}
