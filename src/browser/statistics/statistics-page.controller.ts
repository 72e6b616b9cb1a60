import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../common/access.js';
import type { Reply } from '../../common/http/reply.js';
import type { QueryParameters } from '../../common/list/query.js';
import { PAGE_ROUTE, pageReply } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { CurrentActor, ListParams } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { STATISTICS_PARAMETERS, StatisticsService } from '../../statistics/statistics.service.js';
import { statisticsPage } from './statistics-page.js';

@ApiTags('root')
@Controller('statistics')
export class StatisticsPageController {
  constructor(private readonly service: StatisticsService) {}

  @Route({
    ...PAGE_ROUTE,
    operationId: 'statistics_page',
    summary: 'Show the statistics page.',
    query: STATISTICS_PARAMETERS,
  })
  @Get()
  async show(
    @OpenedPage() page: PageContext,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    return pageReply(statisticsPage(page, await this.service.load(query, actor)));
  }
}
