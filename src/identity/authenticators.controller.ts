import { Body, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import { plainJson } from '../common/exact-json.js';
import { BadRequest, Invalid, Unavailable } from '../common/errors/errors.js';
import { Char, Json } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { CREDENTIAL_TESTS, LimitedPerUser } from '../common/rate/rate.guard.js';
import { isRecord } from '../common/records.js';
import { Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { children, related, SubList } from '../common/rest/sublist.js';
import type { AnyAuthenticator } from './authenticator.entity.js';
import { authenticators } from './authenticators.resource.js';
import { ExternalLogins } from './external-logins.service.js';
import type { Claims } from './external-rights.js';
import { LdapClient } from './ldap-client.service.js';
import { OAuthClient } from './oauth-client.service.js';

/** Body of a test of an authenticator. */
export class AuthenticatorTest {
  @Json({
    nullable: true,
    default: null,
    column: null,
    help: 'Claims of a login, such as {"groups": ["ops"]}. Without claims and username, the test checks that the provider responds.',
  })
  claims!: Record<string, unknown> | null;

  @Char({ max: 150, column: null, help: 'Name of a user to look up in a directory.' })
  username!: string;
}

const TEST_RESPONSE = json.object(
  {
    issuer: json.described(json.STRING, 'Issuer of the identity provider.'),
    server: json.described(json.STRING, 'Server that responded.'),
    claims: json.described(
      json.mapOf(json.anyOfSchemas(json.STRING, json.list(json.STRING))),
      'Claims or attributes of the user.',
    ),
    allowed: json.described(json.BOOLEAN, 'True if the user could log in.'),
    refusal: json.described(json.orNull(json.STRING), 'Reason why the user could not log in.'),
    maps: json.described(json.list(json.INTEGER), 'Ids of the maps that apply.'),
    roles: json.described(
      json.list(
        json.object({ type: json.STRING, object: json.orNull(json.INTEGER), field: json.STRING }),
      ),
      'Roles that the user would get.',
    ),
  },
  ['issuer', 'server', 'claims', 'allowed', 'refusal', 'maps', 'roles'],
);

@Resource(authenticators)
@SubList('maps', children('maps', { needs: 'change' }))
@SubList('identities', children('identities', { needs: 'change' }))
@SubList('users', related('users'))
@SubList('activity_stream', activityOf())
export class AuthenticatorsController extends ResourceController(authenticators) {
  constructor(
    private readonly logins: ExternalLogins,
    private readonly client: OAuthClient,
    private readonly directories: LdapClient,
  ) {
    super();
  }

  @Route({
    operationId: 'authenticators_test',
    summary:
      'Show the grants for claims or a user of a directory, or check that the provider responds.',
    parent: authenticators,
    needs: 'change',
    response: TEST_RESPONSE,
    status: 200,
  })
  @Post(':id/test')
  @LimitedPerUser(CREDENTIAL_TESTS)
  async test(
    @Target() authenticator: AnyAuthenticator,
    @Body() { claims, username }: AuthenticatorTest,
  ): Promise<object> {
    try {
      const sent = plainJson(claims ?? null);
      if (isRecord(sent)) return await this.rights(authenticator, sent);
      if (authenticator.kind !== 'ldap') {
        if (username !== '')
          throw Invalid.field('username', 'Only LDAP directories can look up users.');
        if (authenticator.kind === 'saml')
          throw Invalid.field('claims', 'A SAML provider cannot be tested without claims.');
        return { issuer: await this.client.probe(authenticator) };
      }
      if (username === '') return { server: await this.directories.probe(authenticator) };
      const userClaims = await this.directories.claims(authenticator, username, null);
      if (!userClaims) throw Invalid.field('username', 'The directory has no such user.');
      return { claims: userClaims, ...(await this.rights(authenticator, userClaims)) };
    } catch (error) {
      // Report 400 instead of 503: the tested provider failed, not this server.
      throw error instanceof Unavailable ? new BadRequest(error.message) : error;
    }
  }

  private async rights(authenticator: AnyAuthenticator, claims: Claims): Promise<object> {
    const { refusal, granted, firedMaps } = await this.logins.rights(authenticator, claims);
    return { allowed: refusal === null, refusal, maps: firedMaps, roles: granted };
  }
}
