import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import {
  BOOLEAN,
  INTEGER,
  list,
  object,
  orNull,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import type { Reply } from '../common/http/reply.js';
import type { QueryParameters } from '../common/list/query.js';
import { pageReply } from '../common/pages/layout.js';
import type { PageContext } from '../common/pages/page-context.js';
import { OpenedPage } from '../common/pages/page-parameter.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { SearchService, type Found } from './search.service.js';
import { searchPage } from './search-page.js';

const HIT = object({
  type: STRING,
  id: WIDE_INTEGER,
  name: STRING,
  description: STRING,
  status: { ...orNull(STRING), description: 'Of runs.' },
  url: STRING,
});

const FOUND = object({
  query: STRING,
  groups: list(
    object({
      type: STRING,
      label: STRING,
      url: { ...STRING, description: 'The list with all of them.' },
      has_more: BOOLEAN,
      results: list(HIT),
    }),
  ),
});

const QUERY = [
  {
    name: 'q',
    description: 'Words that each object found has, in any of its texts.',
    schema: STRING,
  },
  {
    name: 'type',
    description: 'Kinds of objects, separated by commas; all without.',
    schema: STRING,
  },
  { name: 'limit', description: 'Most objects of each kind: 1 to 50, 5 without.', schema: INTEGER },
] as const;

/** What the caller may read, by words (docs/contract/lists.md#search-everywhere). */
@ApiTags('root')
@Controller()
export class SearchController {
  constructor(private readonly service: SearchService) {}

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'search',
    summary: 'Objects of all kinds that have the words, as far as the caller may read them.',
    query: QUERY,
    response: FOUND,
  })
  @Get('api/v2/search')
  find(@ListParams() query: QueryParameters, @CurrentActor() actor: Actor): Promise<Found> {
    return this.service.find(query, actor);
  }

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'search_page',
    outsideApi: true,
    summary: 'The same as a page.',
    query: QUERY,
    produces: 'text/html',
    response: STRING,
  })
  @Get('search')
  async show(
    @OpenedPage() page: PageContext,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    return pageReply(searchPage(page, await this.service.find(query, actor)));
  }
}
