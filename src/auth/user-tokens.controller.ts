import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import type { QueryParameters } from '../common/list/query.js';
import type { Row } from '../common/resource/define-resource.js';
import { Invalid } from '../common/errors/errors.js';
import { FAULTS } from '../common/fields/fault-texts.js';
import { CurrentActor, ListParams, Target } from '../common/rest/parameters.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import type { Page } from '../common/list/page.js';
import type { Representation } from '../common/resource/representation.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { and, sql, TRUE, type Sql } from '../database/sql.js';
import { users } from '../users/users.resource.js';
import { LimitedPerUser, TOKENS } from '../common/rate/rate.guard.js';
import { Token } from './token.entity.js';
import { tokens } from './tokens.resource.js';
import { TokensService } from './tokens.service.js';

const ROUTE = { resource: tokens, parent: users } as const;
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
  summary: 'Create an access token. Only this response shows the token.',
  shownOnce: true,
};

/** Tokens of a user. The command-line client identifies the user by name. */
@ApiTags('users')
@Controller('api/v2/users/:id')
export class UserTokensController {
  constructor(
    private readonly resources: ResourceService,
    private readonly service: TokensService,
  ) {}

  @Route({ ...list, link: 'tokens' })
  @Get('tokens')
  tokens(
    @Target() user: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.list(user, query, actor);
  }

  @Route(create)
  @Post('tokens')
  @LimitedPerUser(TOKENS)
  createToken(
    @Target() user: Row,
    @Body() body: Token,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return this.service.create(body, user, actor);
  }

  @Route({ ...list, link: 'personal_tokens', operationId: 'users_personal_tokens_list' })
  @Get('personal_tokens')
  personalTokens(
    @Target() user: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.list(user, query, actor, sql`t.application_id IS NULL`);
  }

  @Route({ ...create, operationId: 'users_personal_tokens_create' })
  @Post('personal_tokens')
  @LimitedPerUser(TOKENS)
  createPersonalToken(
    @Target() user: Row,
    @Body() body: Token,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return this.service.create({ ...body, application: null }, user, actor);
  }

  @Route({
    ...list,
    link: 'authorized_tokens',
    operationId: 'users_authorized_tokens_list',
    summary: 'List access tokens of applications for one user.',
  })
  @Get('authorized_tokens')
  authorizedTokens(
    @Target() user: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.list(user, query, actor, sql`t.application_id IS NOT NULL`);
  }

  @Route({ ...create, operationId: 'users_authorized_tokens_create' })
  @Post('authorized_tokens')
  @LimitedPerUser(TOKENS)
  createAuthorizedToken(
    @Target() user: Row,
    @Body() body: Token,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    if (body.application === null) throw Invalid.field('application', FAULTS.required);
    return this.service.create(body, user, actor);
  }

  private list(
    user: Row,
    query: QueryParameters,
    actor: Actor,
    condition: Sql = TRUE,
  ): Promise<Page<Representation>> {
    return this.resources.list(tokens, query, actor, {
      scope: and(sql`t.user_id = ${user.id}`, condition),
    });
  }
}
