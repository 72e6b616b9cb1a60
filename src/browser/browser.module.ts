import { Module } from '@nestjs/common';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { SearchModule } from '../search/search.module.js';
import { StatisticsModule } from '../statistics/statistics.module.js';
import { DashboardController } from './dashboard/dashboard.controller.js';
import { DashboardService } from './dashboard/dashboard.service.js';
import { LoginController } from './login/login.controller.js';
import { SearchPageController } from './search/search-page.controller.js';
import { StatisticsPageController } from './statistics/statistics-page.controller.js';

/** The HTML pages of the API process. No other layer imports them. */
@Module({
  imports: [NotificationsModule, SearchModule, StatisticsModule],
  controllers: [
    DashboardController,
    LoginController,
    SearchPageController,
    StatisticsPageController,
  ],
  providers: [DashboardService],
})
export class BrowserModule {}
