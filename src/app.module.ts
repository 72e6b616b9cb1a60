import { Module } from '@nestjs/common';
import { BrowserModule } from './browser/browser.module.js';
import { FallbackModule } from './common/rest/fallback.module.js';
import { FEATURES } from './features.js';
import { SearchModule } from './search/search.module.js';
import { StatisticsModule } from './statistics/statistics.module.js';

/** The API process: every feature, its pages, and last the answer to unknown URLs. */
@Module({ imports: [...FEATURES, SearchModule, StatisticsModule, BrowserModule, FallbackModule] })
export class AppModule {}
