import { Body, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { CurrentActor } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { LimitedPerUser, TOKENS } from '../common/rate/rate.guard.js';
import { Token } from './token.entity.js';
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
  constructor(private readonly service: TokensService) {
    super();
  }

  @Route({
    kind: 'create',
    operationId: 'tokens_create',
    summary: 'Create an access token. Only this response shows the token.',
    resource: tokens,
    shownOnce: true,
  })
  @Post()
  @LimitedPerUser(TOKENS)
  create(@Body() body: Token, @CurrentActor() actor: Actor): Promise<object> {
    return this.service.create(body, actor, actor);
  }
}
