import { Module } from '@nestjs/common';
import { InstancesModule } from '../instances/instances.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { DashboardCountsController } from './dashboard-counts.controller.js';
import { DashboardCountsService } from './dashboard-counts.service.js';
import { StatisticsController } from './statistics.controller.js';
import { StatisticsService } from './statistics.service.js';

@Module({
  imports: [InstancesModule, RunsModule],
  controllers: [StatisticsController, DashboardCountsController],
  providers: [StatisticsService, DashboardCountsService],
  exports: [StatisticsService],
})
export class StatisticsModule {}
