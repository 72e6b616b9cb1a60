import { Module } from '@nestjs/common';
import { DashboardCountsController } from './dashboard-counts.controller.js';
import { DashboardCountsService } from './dashboard-counts.service.js';
import { StatisticsController } from './statistics.controller.js';
import { StatisticsService } from './statistics.service.js';

@Module({
  controllers: [StatisticsController, DashboardCountsController],
  providers: [StatisticsService, DashboardCountsService],
  exports: [StatisticsService],
})
export class StatisticsModule {}
