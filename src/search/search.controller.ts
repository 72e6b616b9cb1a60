import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { SEARCH_PARAMETERS, SearchService, type SearchResponse } from './search.service.js';

const HIT = json.object({
  type: json.STRING,
  id: json.WIDE_INTEGER,
  name: json.STRING,
  description: json.STRING,
  status: { ...json.orNull(json.STRING), description: 'Status of a run.' },
  url: json.STRING,
});

const FOUND = json.object({
  query: json.described(json.STRING, 'Text that was searched.'),
  groups: json.described(
    json.list(
      json.object({
        type: json.STRING,
        label: json.STRING,
        url: { ...json.STRING, description: 'URL of the list with all results.' },
        has_more: json.BOOLEAN,
        results: json.list(HIT),
      }),
    ),
    'Results by kind of object.',
  ),
});

/** Finds objects of many types by words (docs/contract/lists.md#search-everywhere). */
@ApiTags('root')
@Controller()
export class SearchController {
  constructor(private readonly service: SearchService) {}

  @Route({
    operationId: 'search',
    summary: 'Objects of all kinds that contain the words and that the caller may read.',
    query: SEARCH_PARAMETERS,
    response: FOUND,
  })
  @Get('api/v2/search')
  find(
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<SearchResponse> {
    return this.service.find(query, actor);
  }
}
