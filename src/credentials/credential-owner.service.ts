import { Injectable } from '@nestjs/common';
import { GrantsService } from '../access/grants.service.js';
import { RoleParentsRepository } from '../access/role-parents.repository.js';
import { RolesRepository } from '../access/roles.repository.js';
import { TeamStore } from '../access/team-store.js';
import { SYSTEM_ACTOR, type Actor } from '../common/access.js';
import { BadRequest, Forbidden, Invalid } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { UsersRepository } from '../users/users.repository.js';
import { CredentialInputSourcesRepository } from './credential-input-sources.repository.js';
import { CredentialsRepository } from './credentials.repository.js';
import type { Credential } from './credential.entity.js';

const OWNERS = ['organization', 'team', 'user'] as const;

/**
 * Rules for the owner of a credential: one user, one team, or an organization
 * (docs/contract/resources.md#credentials). Also verifies changes of the destination of looked-up
 * secrets.
 */
@Injectable()
export class CredentialOwner {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly roles: RolesRepository,
    private readonly roleEdges: RoleParentsRepository,
    private readonly teams: TeamStore,
    private readonly users: UsersRepository,
    private readonly grants: GrantsService,
    private readonly references: ReferencesService,
    private readonly sources: CredentialInputSourcesRepository,
  ) {}

  /**
   * Returns the organization of a new credential: the organization of the request, the organization
   * of the owning team, or null. For a team, locks the role graph.
   *
   * @throws BadRequest unless the request names exactly one owner
   */
  async organizationOf(values: ValuesOf<Credential>): Promise<number | null> {
    const owners = OWNERS.filter((name) => typeof values[name] === 'number');
    if (owners.length === 0) throw new BadRequest("Missing 'user', 'team', or 'organization'.");
    if (owners.length > 1) {
      throw new BadRequest(
        `Only one of 'user', 'team', or 'organization' should be provided, received ${owners.join(', ')} fields.`,
      );
    }
    if (typeof values.team !== 'number') return values.organization ?? null;
    // Creating the roles takes this lock in shared mode, and the grant to the team takes it exclusively:
    // two transactions with the shared lock would wait for each other.
    await this.roleEdges.lock();
    return (await this.teams.referenced(values.team)).organization_id;
  }

  /** Grants a new credential's admin role to its owning user or team, which the caller administers. */
  async grant(credential: RowOf<Credential>, values: ValuesOf<Credential>): Promise<void> {
    if (typeof values.user !== 'number' && typeof values.team !== 'number') return;
    const found = await this.roles.ofObject('credential', credential.id, 'admin_role');
    const role = existing(found, 'a new credential has the roles its resource declares');
    if (typeof values.team === 'number') {
      const team = await this.teams.referenced(values.team);
      return this.grants.grantToTeam(role, team, SYSTEM_ACTOR);
    }
    // `grantToUser` prevents sharing private credentials; this credential is new.
    const user = await this.users.referenced(Number(values.user));
    await this.grants.addMember(role, credential, user);
  }

  /**
   * Verifies a move to another organization, or out of its organization. A move out requires
   * `credential_admin` on the current organization, and no user or team outside the new organization can
   * hold a role on the credential.
   *
   * @throws Forbidden, or Invalid naming the organization
   */
  async assertMovable(
    row: RowOf<Credential>,
    organization: number | null,
    actor: Actor,
  ): Promise<void> {
    if (organization === null && typeof row.organization_id === 'number') {
      await this.references.assertAllowed(
        resource('organization'),
        [row.organization_id],
        'credential_admin',
        actor,
      );
    }
    if (await this.credentials.isSharedOutside(row.id, organization)) {
      throw Invalid.field(
        'organization',
        'The credential is shared with users or teams outside of that organization.',
      );
    }
  }

  /**
   * Verifies a change of inputs that decide where secrets are sent. Looked-up secrets are sent
   * there too.
   *
   * @throws Forbidden unless the caller has `use` on all stores of the other looked-up inputs
   */
  async assertMayRedirect(id: number, changed: readonly string[], actor: Actor): Promise<void> {
    const sources = await this.sources.ofTargets([id]);
    const stores = sources.filter(({ field }) => !changed.includes(field));
    await this.references.assertAllowed(
      resource('credential'),
      stores.map((source) => source.source_id),
      'use',
      actor,
      `Changing ${changed.join(', ')} requires permission to use the credentials that inputs are looked up with.`,
    );
  }

  /**
   * Verifies a change of the destination of a store that receives the identities of runs: the
   * administrator of the new destination could log in to the original store with these identities.
   *
   * @throws Invalid if inputs of other credentials are looked up with the store, unless the caller is a
   *   superuser
   */
  async assertNoSource(id: number, actor: Actor): Promise<void> {
    if (actor.isSuperuser || !(await this.sources.existsBy({ source_credential_id: id }))) return;
    const text =
      'Runs send their identity to this store. Remove the input sources that use it first.';
    throw Invalid.field('inputs', text);
  }

  /** @throws Forbidden for credentials that the product manages */
  assertNotManaged(row: RowOf<Credential>): void {
    if (row.managed === true) {
      throw new Forbidden('Modifications not allowed for managed credentials');
    }
  }
}
