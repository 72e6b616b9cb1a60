import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { activityOf } from '../activity/sublists.js';
import { Token } from '../auth/token.entity.js';
import { tokens } from '../auth/tokens.resource.js';
import { TokensService } from '../auth/tokens.service.js';
import type { Actor } from '../common/access.js';
import { issueToken } from '../common/crypto/tokens.js';
import { LimitedPerUser, TOKENS } from '../common/rate/rate.guard.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import { CommonServices } from '../common/rest/common-services.service.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { related, SubList } from '../common/rest/sublist.js';
import { Application } from './application.entity.js';
import { applications } from './applications.resource.js';

@Resource(applications)
@SubList('tokens', related('tokens'))
@SubList('activity_stream', activityOf())
export class ApplicationsController extends ResourceController(applications, [
  'list',
  'retrieve',
  'replace',
  'modify',
  'destroy',
]) {
  constructor(private readonly tokens: TokensService) {
    super();
  }

  @Route({
    kind: 'create',
    operationId: 'applications_create',
    summary: 'Create an application. Only this response shows the secret of a confidential client.',
    resource: applications,
    shownOnce: true,
  })
  @Post()
  create(@Body() body: Application, @CurrentActor() actor: Actor): Promise<object> {
    return createApplication(this.services, { ...body }, actor);
  }

  @Route({
    kind: 'create',
    operationId: 'applications_tokens_create',
    summary: 'Create a token of the caller for an application. The response shows it once.',
    resource: tokens,
    parent: applications,
    shownOnce: true,
  })
  @Post(':id/tokens')
  @LimitedPerUser(TOKENS)
  createToken(
    @Target() { id }: RowOf<Application>,
    @Body() body: Token,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return this.tokens.create({ ...body, application: id }, actor, actor);
  }
}

/** Creation of an organization's applications; `OrganizationsController` lists them. */
@ApiTags('organizations')
@Controller('api/v2/organizations/:id/applications')
export class OrganizationApplicationsController {
  constructor(private readonly services: CommonServices) {}

  @Route({
    kind: 'create',
    operationId: 'organizations_applications_add',
    summary:
      'Create an application of the organization. Only this response shows the secret of a confidential client.',
    resource: applications,
    get parent() {
      return resource('organization');
    },
    needs: 'change',
    get body() {
      return applications.fields;
    },
    openParts: () => ({
      body: true,
      attach: false,
      fields: applications.fields.filter(({ name }) => name !== 'organization'),
    }),
    shownOnce: true,
  })
  @Post()
  create(
    @Target() { id }: Row,
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return createApplication(this.services, body, actor, { organization: id });
  }
}

async function createApplication(
  { resources }: CommonServices,
  body: Record<string, unknown>,
  actor: Actor,
  injected: Record<string, unknown> = {},
): Promise<object> {
  const { token: secret, digest } = issueToken('acs');
  const row = await resources.create(applications, body, actor, {
    injected: { ...injected, secret_digest: digest },
  });
  const shown = await resources.show(applications, row, actor);
  return row.client_type === 'public' ? shown : { ...shown, client_secret: secret };
}
