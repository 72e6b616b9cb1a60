import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../common/access.js';
import { issueCsrfToken } from '../common/http/csrf.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteAccess, type RouteInfo } from '../common/rest/route.js';
import { RouteTable } from '../common/rest/route-table.service.js';
import type { JsonSchema } from '../common/fields/json-schema.js';
import type { Page } from '../common/list/page.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import type { Representation } from '../common/resource/representation.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { sql } from '../database/sql.js';
import { users } from '../users/users.resource.js';
import { AuthenticatorsRepository } from '../identity/authenticators.repository.js';
import { COLLECTIONS, CONFIG, LOGIN_OPTIONS, MESH, PING, ROOT } from './root-schemas.js';
import { RootService } from './root.service.js';

const document = (
  operationId: string,
  summary: string,
  access: RouteAccess,
  response: JsonSchema,
): RouteInfo => ({
  access,
  operationId,
  summary,
  response,
});

/** Documents at which a client starts (docs/contract/conventions.md#documents-to-start-from). */
@ApiTags('root')
@Controller('api')
export class RootController {
  constructor(
    private readonly service: RootService,
    private readonly resources: ResourceService,
    private readonly table: RouteTable,
    private readonly authenticators: AuthenticatorsRepository,
  ) {}

  @Route(document('api_root', 'Versions of the API.', 'public', ROOT))
  @Get()
  async root(
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    // The command-line client takes its CSRF token from this response before it logs in.
    issueCsrfToken(request, response);
    return {
      description: 'Automation Controller REST API',
      current_version: '/api/v2/',
      available_versions: { v2: '/api/v2/' },
      oauth2: '/api/o/',
      ...(await this.service.loginBranding()),
      login_redirect_override: '',
    };
  }

  @Route(document('api_v2_root', 'Collections of the API.', 'public', COLLECTIONS))
  @Get('v2')
  version(): object {
    return this.service.collections(this.table);
  }

  @Route({
    kind: 'list',
    operationId: 'me',
    summary: 'Return the caller, as a list with one user.',
    resource: users,
  })
  @Get('v2/me')
  me(
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.resources.list(users, query, actor, { scope: sql`t.id = ${actor.id}` });
  }

  @Route(document('auth', 'Login options besides local passwords.', 'public', LOGIN_OPTIONS))
  @Get('v2/auth')
  async auth(): Promise<object> {
    const options = await this.authenticators.enabled();
    return Object.fromEntries(
      options.map(({ slug, name }) => [slug, { name, login_url: `/sso/login/${slug}/` }]),
    );
  }

  @Route(document('ping', 'Version and nodes of this installation.', 'public', PING))
  @Get('v2/ping')
  ping(@CurrentActor() actor: Actor | undefined): Promise<object> {
    return this.service.ping(actor);
  }

  @Route({
    ...document('mesh_visualizer', 'Instances as nodes of a graph.', 'authenticated', MESH),
    systemRole: 'auditor',
  })
  @Get('v2/mesh_visualizer')
  mesh(): Promise<object> {
    return this.service.mesh();
  }

  @Route(document('config', 'Configuration for clients.', 'authenticated', CONFIG))
  @Get('v2/config')
  config(@CurrentActor() actor: Actor): Promise<object> {
    return this.service.config(actor);
  }
}
