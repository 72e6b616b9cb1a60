import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf, type ObjectRef } from '../common/activity/activity.js';
import { BadRequest, Forbidden, NotFound } from '../common/errors/errors.js';
import { findResource, resource, type Row } from '../common/resource/define-resource.js';
import { selectRows } from '../common/resource/select-rows.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { RoleAncestorsRepository } from './role-ancestors.repository.js';
import { RoleGraph } from './role-graph.service.js';
import { RoleMembersRepository } from './role-members.repository.js';
import { RoleTeamsRepository } from './role-teams.repository.js';
import { RolesRepository, type RoleRow } from './roles.repository.js';
import { assertOtherSuperuser, ExternalFlagStore, SYSTEM_FLAGS, UserStore } from './user-store.js';

/**
 * Grants and revokes roles, and verifies that the caller has permission to do so
 * (docs/contract/access.md#granting). Both operations are idempotent.
 */
@Injectable()
export class GrantsService {
  constructor(
    private readonly database: Database,
    private readonly graph: RoleGraph,
    private readonly roles: RolesRepository,
    private readonly members: RoleMembersRepository,
    private readonly teams: RoleTeamsRepository,
    private readonly closure: RoleAncestorsRepository,
    private readonly users: UserStore,
    private readonly externalFlags: ExternalFlagStore,
    private readonly activity: ActivityRecorder,
    private readonly references: ReferencesService,
    private readonly settings: Settings,
  ) {}

  /** Grants a user a role of an object, by the field of the role. */
  async grantOn(
    { type, id }: { type: string; id: number },
    field: string,
    user: Row,
    actor: Actor,
  ): Promise<void> {
    await this.grantToUser(await this.roleOf(type, id, field), user, actor);
  }

  async revokeOn(
    { type, id }: { type: string; id: number },
    field: string,
    user: Row,
    actor: Actor,
  ): Promise<void> {
    await this.revokeFromUser(await this.roleOf(type, id, field), user, actor);
  }

  /** @param authenticator authenticator whose maps grant the role; null for a manual grant */
  async grantToUser(
    role: RoleRow,
    user: Row,
    actor: Actor,
    authenticator: number | null = null,
  ): Promise<void> {
    await this.assertMayGrant(role, actor);
    if (role.object_id === null) return this.setSystemFlag(role, user, true);
    const object = await this.objectOf(role);
    await this.assertUserFits(role, existing(object, 'a role of an object has it'), user, actor);
    await this.addMember(role, object, user, authenticator);
  }

  /** Grants a role of an object, without a check of permission: for the owner of a new object. */
  async addMember(
    role: RoleRow,
    object: Row | null,
    user: Row,
    authenticator: number | null = null,
  ): Promise<void> {
    const isNew = await this.members.grant(role.id, user.id, authenticator);
    if (isNew) this.log('associate', role, object, refOf(resource('user'), user));
  }

  async revokeFromUser(role: RoleRow, user: Row, actor: Actor): Promise<void> {
    await this.assertMayGrant(role, actor);
    if (role.object_id === null) return this.setSystemFlag(role, user, false);
    const object = await this.objectOf(role);
    const wasHeld = await this.members.revoke(role.id, user.id);
    if (wasHeld) this.log('disassociate', role, object, refOf(resource('user'), user));
  }

  async grantToTeam(role: RoleRow, team: Row, actor: Actor): Promise<void> {
    await this.assertMayGrant(role, actor);
    const object = await this.objectOf(role);
    const members = await this.roleOf('team', team.id, 'member_role');
    // Locks the team before the graph of roles, like a deletion of the team.
    assertTeamFits(role, object, await this.objectOf(members));
    if ((await this.graph.addEdge(members.id, role.id)) === 'cycle') {
      throw new BadRequest('This grant would make a team a member of itself.', 'grant_denied');
    }
    const isNew = await this.teams.grant(role.id, team.id);
    if (isNew) this.log('associate', role, object, refOf(resource('team'), team));
  }

  async revokeFromTeam(role: RoleRow, team: Row, actor: Actor): Promise<void> {
    await this.assertMayGrant(role, actor);
    if (!(await this.teams.revoke(role.id, team.id))) return;
    const object = await this.objectOf(role);
    const members = await this.roleOf('team', team.id, 'member_role');
    await this.graph.removeEdge(members.id, role.id);
    this.log('disassociate', role, object, refOf(resource('team'), team));
  }

  /** @throws Forbidden unless the caller can grant and revoke this role */
  async assertMayGrant(role: RoleRow, actor: Actor): Promise<void> {
    if (!(await this.manageable([role.id], actor)).has(role.id)) throw denied();
  }

  /**
   * Returns the roles that the caller can grant and revoke: all for superusers; for others those of
   * administered objects, as far as `MANAGE_ORGANIZATION_AUTH` permits.
   */
  async manageable(roles: readonly number[], actor: Actor): Promise<ReadonlySet<number>> {
    const { MANAGE_ORGANIZATION_AUTH } = this.settings;
    return new Set(await this.roles.manageable(roles, actor, MANAGE_ORGANIZATION_AUTH));
  }

  /** Returns the roles that the caller can revoke from a user or team: the last superuser keeps the flag. */
  async revocable(
    roles: readonly number[],
    holder: Row,
    actor: Actor,
  ): Promise<ReadonlySet<number>> {
    const manageable = await this.manageable(roles, actor);
    if (holder['is_superuser'] !== true || (await this.users.hasOtherSuperuser(holder.id)))
      return manageable;
    const { id } = await this.roles.ofSystem('system_administrator');
    return new Set([...manageable].filter((role) => role !== id));
  }

  /** @throws Forbidden for callers who administer nothing and so cannot grant any role */
  async assertMayGrantSome(actor: Actor): Promise<void> {
    if (actor.isSuperuser) return;
    if (!(await this.closure.holds(actor.id, 'admin_role'))) throw denied();
  }

  /** @throws NotFound if the object was deleted in the meantime */
  private async roleOf(type: string, object: number, field: string): Promise<RoleRow> {
    const role = await this.roles.ofObject(type, object, field);
    if (!role) throw new NotFound();
    return role;
  }

  /**
   * Returns the object of a role, null for a role of the system. Prevents changes of the object until the
   * transaction ends: its organization limits its grants.
   *
   * @throws NotFound if the object was deleted in the meantime
   */
  private async objectOf(role: RoleRow): Promise<Row | null> {
    const definition = findResource(role.content_type);
    if (!definition || role.object_id === null) return null;
    const rows = selectRows(definition, 't', sql`t.*`, sql`t.id = ${role.object_id}`);
    const row = await this.database.row<Row>(sql`${rows} FOR KEY SHARE`);
    if (!row) throw new NotFound();
    return row;
  }

  private async assertUserFits(role: RoleRow, object: Row, user: Row, actor: Actor): Promise<void> {
    if (actor.isSuperuser) return;
    if (role.content_type === 'organization' && isParticipation(role)) {
      await this.assertMayEnlist(user, actor);
    }
    if (role.content_type === 'credential') {
      const organization = object.organization_id;
      if (typeof organization !== 'number') {
        throw new BadRequest(
          'You cannot grant private credential access to another user',
          'grant_denied',
        );
      }
      if (!(await this.closure.holds(user.id, 'member_role', 'organization', organization))) {
        throw new BadRequest(
          "You cannot grant credential access to a user not in the credentials' organization",
          'grant_denied',
        );
      }
    }
  }

  private async assertMayEnlist({ id }: Row, actor: Actor): Promise<void> {
    try {
      await this.references.assertAllowed(resource('user'), [id], 'enlist', actor);
    } catch (error) {
      throw error instanceof Forbidden ? denied() : error;
    }
  }

  private async setSystemFlag(role: RoleRow, user: Row, value: boolean): Promise<void> {
    const flag = SYSTEM_FLAGS[role.role_field];
    if (!flag) throw new BadRequest('This role cannot be granted.', 'grant_denied');
    if (flag === 'is_superuser' && !value) {
      await assertOtherSuperuser(this.users, user.id, `Cannot change ${flag}.`);
    }
    await this.externalFlags.keepFlag(user.id, flag);
    if (await this.users.setFlag(user.id, flag, value)) {
      this.log(value ? 'associate' : 'disassociate', role, null, refOf(resource('user'), user));
    }
  }

  private log(
    operation: 'associate' | 'disassociate',
    role: RoleRow,
    object: Row | null,
    holder: ObjectRef,
  ): void {
    const definition = findResource(role.content_type);
    const owner = definition && object ? refOf(definition, object) : null;
    this.activity.recordLink({
      operation,
      object1: holder,
      object2: owner ?? { type: 'role', id: role.id, name: role.role_field },
      association: 'role',
      objectType: role.content_type,
      relationship: `${role.content_type}.${role.role_field}`,
    });
  }
}

const denied = (): Forbidden => new Forbidden(undefined, 'grant_denied');

const isParticipation = (role: RoleRow): boolean =>
  role.role_field === 'admin_role' || role.role_field === 'member_role';

function assertTeamFits(role: RoleRow, object: Row | null, team: Row | null): void {
  if (role.object_id === null) {
    throw new BadRequest('You cannot grant system-level permissions to a team.', 'grant_denied');
  }
  if (role.content_type === 'organization' && isParticipation(role)) {
    throw new BadRequest(
      'You cannot assign an Organization participation role as a child role for a Team.',
      'grant_denied',
    );
  }
  if (role.content_type === 'credential' && object?.organization_id !== team?.organization_id) {
    throw new BadRequest(
      "You cannot grant credential access to a team when the Organization field isn't set, or belongs to a different organization",
      'grant_denied',
    );
  }
}
