import { Controller, Get, Post, Req, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import type { Page } from '../common/list/page.js';
import type { Representation } from '../common/resource/represent.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { and, FALSE, sql, TRUE, type Sql } from '../database/sql.js';
import { users } from '../users/users.resource.js';
import { TokenRateGuard } from '../common/rate/rate.guard.js';
import { tokens } from './tokens.resource.js';
import { TokensService } from './tokens.service.js';

const ROUTE = { access: 'authenticated', resource: tokens, parent: users } as const;
const list: RouteInfo = {
  ...ROUTE,
  kind: 'list',
  operationId: 'users_tokens_list',
  summary: 'Access tokens of one user.',
};
const create: RouteInfo = {
  ...ROUTE,
  kind: 'create',
  needs: 'self',
  operationId: 'users_tokens_create',
  summary: 'Make an access token. The answer shows it once.',
  body: tokens.fields,
  shownOnce: true,
};

users.links
  .set('tokens', 'tokens')
  .set('personal_tokens', 'personal_tokens')
  .set('authorized_tokens', 'authorized_tokens');

/** A user's tokens; the command-line client names the user by name. */
@ApiTags('users')
@Controller('api/v2/users/:id')
export class UserTokensController {
  constructor(
    private readonly resources: ResourceService,
    private readonly service: TokensService,
  ) {}

  @Route(list)
  @Get('tokens')
  tokens(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return this.list(request);
  }

  @UseGuards(TokenRateGuard)
  @Route(create)
  @Post('tokens')
  createToken(@Req() request: ApiRequest): Promise<Reply> {
    return this.create(request);
  }

  @Route({ ...list, operationId: 'users_personal_tokens_list' })
  @Get('personal_tokens')
  personalTokens(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return this.list(request);
  }

  @UseGuards(TokenRateGuard)
  @Route({ ...create, operationId: 'users_personal_tokens_create' })
  @Post('personal_tokens')
  createPersonalToken(@Req() request: ApiRequest): Promise<Reply> {
    return this.create(request);
  }

  @Route({
    ...list,
    operationId: 'users_authorized_tokens_list',
    summary: 'Access tokens that applications hold for one user. There are no applications.',
  })
  @Get('authorized_tokens')
  authorizedTokens(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return this.list(request, FALSE);
  }

  private async list(
    { params, query, actor }: ApiRequest,
    which: Sql = TRUE,
  ): Promise<Page<Representation>> {
    const user = await this.resources.load(users, params.id, actor);
    return this.resources.list(tokens, query, actor, {
      scope: and(sql`t.user_id = ${user.id}`, which),
    });
  }

  private async create({ params, body, actor }: ApiRequest): Promise<Reply> {
    const user = await this.resources.load(users, params.id, actor);
    return Reply.created(await this.service.create(body, user.id, actor));
  }
}
