import { Body, Post } from '@nestjs/common';
import { usersGranted } from '../access/role-members.repository.js';
import { teamsGranted } from '../access/role-teams.repository.js';
import { rolesOf } from '../access/roles.repository.js';
import { accessList, objectRoles } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import * as json from '../common/fields/json-schema.js';
import { CREDENTIAL_TESTS, LimitedPerUser } from '../common/rate/rate.guard.js';
import { CopyController } from '../common/rest/copy.controller.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import type { Values } from '../common/rest/hooks.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route, type Caller, type OpenParts } from '../common/rest/route.js';
import { children, SubList, subListOf } from '../common/rest/sublist.js';
import { sql, type Sql } from '../database/sql.js';
import { CredentialInputSourcesRepository } from './credential-input-sources.repository.js';
import type { Credential } from './credential.entity.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import { CredentialsRepository } from './credentials.repository.js';
import { credentials } from './credentials.resource.js';
import { LookupTests } from './lookup-tests.service.js';
import { LookupRequest } from './lookup.dto.js';
import { maskSealed, openPrevious } from './sealed-inputs.js';

const adminRole = ({ id }: Row): Sql => rolesOf('credential', [id], 'admin_role');

/** Returns the open parts of the test route: only credentials of secret stores can be tested. */
async function ofSecretStore({ parent, rules }: Caller): Promise<OpenParts> {
  const types = rules instanceof CredentialTypesRepository ? await rules.all() : [];
  const type = types.find(({ id }) => id === parent?.credential_type_id);
  return { attach: false, body: type?.kind === 'external' };
}

@Resource(credentials)
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
@SubList('input_sources', children('input_sources'))
@SubList(
  'owner_users',
  subListOf(
    () => resource('user'),
    (credential) => sql`t.id IN (${usersGranted(adminRole(credential))})`,
  ),
)
@SubList(
  'owner_teams',
  subListOf(
    () => resource('team'),
    (credential) => sql`t.id IN (${teamsGranted(adminRole(credential))})`,
  ),
)
export class CredentialsController extends ResourceController(credentials) {
  constructor(private readonly tests: LookupTests) {
    super();
  }

  @Route({
    operationId: 'credentials_test',
    summary: 'Test the secret store of one credential by fetching a value, which is not shown.',
    parent: credentials,
    needs: 'use',
    response: json.object({}),
    status: 202,
    isDone: true,
    rules: CredentialTypesRepository,
    openParts: ofSecretStore,
  })
  @Post(':id/test')
  @LimitedPerUser(CREDENTIAL_TESTS)
  async test(
    @Target() credential: RowOf<Credential>,
    @Body() body: LookupRequest,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    await this.tests.ofCredential(credential, body, actor);
    return {};
  }
}

@Resource(credentials, 'api/v2/credentials/:id/copy')
export class CredentialCopyController extends CopyController<Credential> {
  constructor(
    private readonly box: SecretBox,
    private readonly repository: CredentialsRepository,
    private readonly sources: CredentialInputSourcesRepository,
  ) {
    super();
  }

  /**
   * Returns the decrypted inputs for a copy. A sealed secret can only be opened in its own row, so
   * the copy seals the secrets again.
   */
  protected override async replacedValues(
    { id, inputs, organization_id: organization }: RowOf<Credential>,
    actor: Actor,
  ): Promise<Values> {
    // Only a superuser can copy a private credential; the copy needs an owner.
    const owner = organization === null ? { user: actor.id } : {};
    return { inputs: openPrevious(this.box, id, inputs, maskSealed(inputs)), ...owner };
  }

  /** Copies the input sources whose stores the caller can use. */
  protected override async copyParts(original: Row, copy: Row, actor: Actor): Promise<void> {
    const stores = (await this.sources.ofTargets([original.id])).map((source) => source.source_id);
    const found = await this.repository.usable(stores, actor);
    const usable = found.filter(({ may_use: mayUse }) => mayUse).map((store) => store.id);
    await this.sources.copy(original.id, copy.id, usable, actor.id);
  }
}
