import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../common/access.js';
import type { Reply } from '../../common/http/reply.js';
import type { QueryParameters } from '../../common/list/query.js';
import { PAGE_ROUTE, pageReply, page } from '../shared/layout.js';
import { pagesNamed } from '../shared/navigation.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { CurrentActor, ListParams } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import {
  SEARCH_PARAMETERS,
  SearchService,
  type SearchResponse,
  type SearchGroup,
} from '../../search/search.service.js';
import { html, type Html } from '../shared/html.js';
import { labelOf } from '../../common/fields/label.js';
import { shorten, statusBadge } from '../shared/value-views.js';

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

/** Renders the search results by resource type. */
const searchPage = (
  context: PageContext,
  found: SearchResponse,
  pages: readonly { label: string; href: string }[],
): string =>
  page({
    context,
    title: found.query === '' ? 'Search' : `Search: ${shorten(found.query, 60)}`,
    content: html`<h1>Search</h1>
      <form class="search-all" method="get" action="/search/" role="search">
        <label for="search-all">Words in names and descriptions</label>
        <div class="search-row">
          <input id="search-all" type="search" name="q" value="${found.query}" maxlength="512" />
          <button>Search</button>
        </div>
      </form>
      ${pages.length > 0 && pageCard(pages)}
      ${pages.length > 0 && found.groups.length === 0 ? null : results(found)}`,
  });

const pageCard = (pages: readonly { label: string; href: string }[]): Html =>
  html`<section class="card" aria-labelledby="found-pages">
    <h2 id="found-pages">Pages</h2>
    <ul class="rows">
      ${pages.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)}
    </ul>
  </section>`;

function results({ query, groups }: SearchResponse): Html {
  if (query === '') return html`<p class="hint">Enter a search term.</p>`;
  if (groups.length === 0) {
    return html`<p class="hint">
      No object that you can read contains all of these words or parts of words.
    </p>`;
  }
  return html`<div class="cards">${groups.map(groupCard)}</div>`;
}

/** Returns the plural label of a resource type, from the name of its list. */
const headingOf = (url: string): string => labelOf(url.split('/')[3] ?? '');

const groupCard = ({ type, label, url, has_more, results: hits }: SearchGroup): Html =>
  html`<section class="card" aria-labelledby="found-${type}">
    <h2 id="found-${type}">${headingOf(url)}</h2>
    <ul class="rows">
      ${hits.map(
        (hit) =>
          html`<li>
            <a href="${hit.url}">${shorten(hit.name, 60) || `${label} ${hit.id}`}</a>
            ${hit.status !== null && `#${hit.id}`} ${hit.status !== null && statusBadge(hit.status)}
            ${hit.description !== '' && html`<small>${shorten(hit.description, 120)}</small>`}
          </li>`,
      )}
    </ul>
    ${has_more && html`<p><a href="${url}">All results</a></p>`}
  </section>`;
