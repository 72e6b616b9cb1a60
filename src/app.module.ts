import { Module } from '@nestjs/common';
import { FallbackModule } from './common/http/fallback.module.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { FEATURES } from './features.js';

/** The API process: every feature, and last what answers unknown URLs. */
@Module({ imports: [...FEATURES, DashboardModule, FallbackModule] })
export class AppModule {}
