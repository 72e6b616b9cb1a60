import { Module } from '@nestjs/common';
import { FallbackModule } from './common/rest/fallback.module.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { FEATURES } from './features.js';
import { SearchModule } from './search/search.module.js';
import { StatisticsModule } from './statistics/statistics.module.js';

/** The API process: every feature, and last what answers unknown URLs. */
@Module({
  imports: [...FEATURES, DashboardModule, SearchModule, StatisticsModule, FallbackModule],
})
export class AppModule {}
