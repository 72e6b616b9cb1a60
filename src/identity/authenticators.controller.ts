import { Body, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import { plainJson } from '../common/exact-json.js';
import { BadRequest, Unavailable } from '../common/errors/errors.js';
import { Json } from '../common/fields/field.js';
import { BOOLEAN, INTEGER, list, object, orNull, STRING } from '../common/fields/json-schema.js';
import { CREDENTIAL_TESTS, LimitedPerUser } from '../common/rate/rate.guard.js';
import { isRecord } from '../common/records.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { CommonServices } from '../common/rest/common-services.service.js';
import { Target } from '../common/rest/parameters.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { Route } from '../common/rest/route.js';
import { SubList } from '../common/rest/sublist.js';
import { children, related } from '../common/rest/sublist-kinds.js';
import type { Authenticator } from './authenticator.entity.js';
import { authenticators } from './authenticators.resource.js';
import { ExternalLogins } from './external-logins.service.js';
import { OidcClient } from './oidc-client.service.js';

/** Body of a trial. */
export class TrialRequest {
  @Json({
    nullable: true,
    default: null,
    column: null,
    help: 'Claims of a login, such as {"groups": ["ops"]}. Without claims the provider is asked for its metadata.',
  })
  claims!: Record<string, unknown> | null;
}

const TRIAL = object(
  {
    issuer: STRING,
    allowed: BOOLEAN,
    refusal: orNull(STRING),
    maps: list(INTEGER),
    roles: list(object({ type: STRING, object: orNull(INTEGER), field: STRING })),
  },
  ['issuer', 'allowed', 'refusal', 'maps', 'roles'],
);

@Resource(authenticators)
@SubList('maps', children('maps', { needs: 'change' }))
@SubList('users', related('users'))
@SubList('activity_stream', activityOf())
export class AuthenticatorsController extends ResourceController(authenticators) {
  constructor(
    services: CommonServices,
    private readonly logins: ExternalLogins,
    private readonly client: OidcClient,
  ) {
    super(services);
  }

  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'authenticators_test',
    summary: 'Show what claims would grant, or without claims whether the provider responds.',
    parent: authenticators,
    needs: 'change',
    response: TRIAL,
    status: 200,
  })
  @Post(':id/test')
  @LimitedPerUser(CREDENTIAL_TESTS)
  async test(
    @Target() authenticator: RowOf<Authenticator>,
    @Body() { claims }: TrialRequest,
  ): Promise<object> {
    const given = plainJson(claims ?? null);
    if (!isRecord(given)) {
      const { issuer } = await this.client.discover(authenticator).catch((error: unknown) => {
        // The server works; what it was asked to try does not.
        throw error instanceof Unavailable ? new BadRequest(error.message) : error;
      });
      return { issuer };
    }
    const { refusal, granted, fired } = await this.logins.rights(authenticator, given);
    return { allowed: refusal === null, refusal, maps: fired, roles: granted };
  }
}
