import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../common/access.js';
import type { Reply } from '../../common/http/reply.js';
import { PAGE_ROUTE, pageReply } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { CurrentActor } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { dashboardPage } from './dashboard-page.js';
import { DashboardService } from './dashboard.service.js';

/** Serves the dashboard to browsers. Other clients are redirected to the API first. */
@ApiTags('root')
@Controller()
export class DashboardController {
  constructor(private readonly service: DashboardService) {}

  @Route({
    ...PAGE_ROUTE,
    operationId: 'dashboard',
    summary:
      'Page with recent activity. Clients that do not accept HTML are redirected to the API.',
    redirects: true,
  })
  @Get()
  async show(@OpenedPage() page: PageContext, @CurrentActor() actor: Actor): Promise<Reply> {
    return pageReply(dashboardPage(page, await this.service.load(actor, page.bookmarks)));
  }
}
