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

/** The API process: every feature, the pages, and last the responses to unknown URLs. */
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
    // Outermost first: read the body after the guards, render the page from the JSON of the response,
    // translate names of services, parse variables in the body, set status and headers of the response,
    // and add the envelope of lists.
    { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
    { provide: APP_INTERCEPTOR, useExisting: PageInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ServiceNamesInterceptor },
    { provide: APP_INTERCEPTOR, useClass: VariablesInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ReplyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: PaginationInterceptor },
  ],
})
export class AppModule {}
