import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import { BrowserModule } from './browser/browser.module.js';
import { PageInterceptor } from './browser/shared/page.interceptor.js';
import { PaginationInterceptor } from './common/list/pagination.interceptor.js';
import { BodyInterceptor } from './common/rest/body.interceptor.js';
import { ErrorsFilter } from './common/rest/errors.filter.js';
import { FallbackModule } from './common/rest/fallback.module.js';
import { ReplyInterceptor } from './common/rest/reply.interceptor.js';
import { VariablesInterceptor } from './common/rest/variables.interceptor.js';
import { FeaturesModule } from './features.module.js';
import { LiveUpdatesModule } from './live-updates/live-updates.module.js';
import { SearchModule } from './search/search.module.js';
import { ServiceNamesInterceptor } from './service-names/service-names.interceptor.js';
import { StatisticsModule } from './statistics/statistics.module.js';

/** The API process: every feature, the pages, and last the answer to unknown URLs. */
@Module({
  imports: [
    FeaturesModule,
    LiveUpdatesModule,
    SearchModule,
    StatisticsModule,
    BrowserModule,
    FallbackModule,
  ],
  providers: [
    { provide: APP_FILTER, useClass: ErrorsFilter },
    // The outermost first. The body is read once the guards have passed the request. The page is made
    // of the JSON that every other client gets. Inside of it names of services are translated, variables
    // in the body are parsed, the response gets its status and headers, and a list its envelope.
    { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
    { provide: APP_INTERCEPTOR, useExisting: PageInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ServiceNamesInterceptor },
    { provide: APP_INTERCEPTOR, useClass: VariablesInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ReplyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: PaginationInterceptor },
  ],
})
export class AppModule {}
