import { Post, Req, UseGuards } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { activityOf } from '../activity/sublists.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { Machinery } from '../common/rest/machinery.js';
import { TokenRateGuard } from '../common/rate/rate.guard.js';
import { tokens } from './tokens.resource.js';
import { TokensService } from './tokens.service.js';

@Resource(tokens)
@SubList('activity_stream', activityOf())
export class TokensController extends ResourceController(tokens, [
  'list',
  'retrieve',
  'replace',
  'modify',
  'destroy',
]) {
  constructor(
    machinery: Machinery,
    private readonly service: TokensService,
  ) {
    super(machinery);
  }

  @UseGuards(TokenRateGuard)
  @Route({
    kind: 'create',
    access: 'authenticated',
    operationId: 'tokens_create',
    summary: 'Make an access token. The answer shows it once.',
    resource: tokens,
    body: tokens.fields,
    shownOnce: true,
  })
  @Post()
  async create(@Req() request: ApiRequest): Promise<Reply> {
    const { body, actor } = request;
    return Reply.created(await this.service.create(body, actor.id, actor));
  }
}
