import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HostMetricHooks } from './host-metric.hooks.js';
import { HostMetricSummaryMonthlyController } from './host-metric-summary-monthly.controller.js';
import { HostMetricsController } from './host-metrics.controller.js';
import { HostMetricsRepository } from './host-metrics.repository.js';
import { MonthlyHostMetricsRepository } from './monthly-host-metrics.repository.js';
import { HostMetric, MonthlyHostMetric } from './host-metric.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([HostMetric, MonthlyHostMetric])],
  controllers: [HostMetricsController, HostMetricSummaryMonthlyController],
  providers: [HostMetricHooks, HostMetricsRepository, MonthlyHostMetricsRepository],
  exports: [HostMetricsRepository],
})
export class HostMetricsModule {}
