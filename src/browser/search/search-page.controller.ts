import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../common/access.js';
import type { Reply } from '../../common/http/reply.js';
import type { QueryParameters } from '../../common/list/query.js';
import { PAGE_ROUTE, pageReply } from '../shared/layout.js';
import { pagesNamed } from '../shared/navigation.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { CurrentActor, ListParams } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { SEARCH_PARAMETERS, SearchService } from '../../search/search.service.js';
import { searchPage } from './search-page.js';

/** Serves the search page. */
@ApiTags('root')
@Controller('search')
export class SearchPageController {
  constructor(private readonly service: SearchService) {}

  @Route({
    ...PAGE_ROUTE,
    operationId: 'search_page',
    summary: 'Show the search page.',
    query: SEARCH_PARAMETERS,
  })
  @Get()
  async show(
    @OpenedPage() page: PageContext,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    const found = await this.service.find(query, actor);
    return pageReply(searchPage(page, found, pagesNamed(found.query, actor)));
  }
}
