import { Injectable } from '@nestjs/common';
import { GrantsService } from '../access/grants.service.js';
import { RoleMembersRepository } from '../access/role-members.repository.js';
import { RolesRepository, type RoleRow } from '../access/roles.repository.js';
import type { SystemFlag } from '../access/user-store.js';
import { SYSTEM_ACTOR } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { currentScope, runInScope } from '../common/http/request-scope.js';
import { readFields } from '../common/fields/validation.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { User } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import { users as userResource } from '../users/users.resource.js';
import type { Authenticator, ExternalIdentity } from './authenticator.entity.js';
import { AuthenticatorMapsRepository } from './authenticator-maps.repository.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { ExternalIdentitiesRepository } from './external-identities.repository.js';
import {
  claimAt,
  externalRights,
  type Claims,
  type ExternalRights,
  type ExternalRole,
} from './external-rights.js';

const FLAGS: readonly (readonly [flag: SystemFlag, field: string])[] = [
  ['is_superuser', 'system_administrator'],
  ['is_system_auditor', 'system_auditor'],
];

type Rights = Pick<ExternalRights, 'granted' | 'retained'>;

const NO_RIGHTS: Rights = { granted: [], retained: [] };

/** Finds or creates the user of a login, and applies the roles that its claims grant. */
@Injectable()
export class ExternalLogins {
  constructor(
    private readonly database: Database,
    private readonly authenticators: AuthenticatorsRepository,
    private readonly maps: AuthenticatorMapsRepository,
    private readonly identities: ExternalIdentitiesRepository,
    private readonly users: UsersRepository,
    private readonly roles: RolesRepository,
    private readonly members: RoleMembersRepository,
    private readonly grants: GrantsService,
    private readonly resources: ResourceService,
    private readonly activity: ActivityRecorder,
  ) {}

  /** Returns the roles that the current maps grant for claims. Changes nothing. */
  async rights(authenticator: RowOf<Authenticator>, claims: Claims): Promise<ExternalRights> {
    const maps = await this.maps.findBy({ authenticator_id: authenticator.id });
    return externalRights(claims, maps, authenticator.kind === 'github');
  }

  /**
   * Logs in the user of verified claims: grants and revokes roles in one transaction, and enables the user of a
   * directory. A refused login revokes the roles that the authenticator granted.
   *
   * @returns the id of the user
   * @throws Forbidden with the reason of a refusal
   */
  async logIn(authenticator: RowOf<Authenticator>, claims: Claims): Promise<number> {
    const { refusal, ...rights } = await this.rights(authenticator, claims);
    const apply = async (): Promise<number> => {
      const identity = await this.identityOf(authenticator, claims, refusal === null);
      if (!identity) return 0;
      const user = await this.users.referenced(identity.user_id);
      await this.apply(identity, user, refusal === null ? rights : NO_RIGHTS);
      if (refusal === null) await this.enable(authenticator, user);
      return user.id;
    };
    const scope = { requestId: '', sourceIp: '', ...currentScope(), actor: null };
    const user = await runInScope(scope, () => this.database.transaction(apply));
    if (refusal !== null) throw refused(refusal);
    if (!(await this.users.accountById(user))) throw refused('The account is disabled.');
    await this.users.noteLogin(user);
    return user;
  }

  /**
   * Links an account to a user, and applies the roles that its claims grant.
   *
   * @throws Forbidden if the maps refuse the login, or the account is linked to another user
   */
  async link(authenticator: RowOf<Authenticator>, claims: Claims, userId: number): Promise<void> {
    const { refusal, ...rights } = await this.rights(authenticator, claims);
    if (refusal !== null) throw refused(refusal);
    await this.database.transaction(async () => {
      const subject = textAt(claims, 'sub');
      await this.authenticators.lockFirstLogins(authenticator.id);
      if (!(await this.identities.locked(authenticator.id, subject))) {
        const link = { authenticator: authenticator.id, subject, user: userId };
        await this.resources.create(resource('external_identity'), link, SYSTEM_ACTOR);
      }
      const identity = await this.identities.locked(authenticator.id, subject);
      if (identity?.user_id !== userId) throw refused('This account is linked to another user.');
      await this.apply(identity, await this.users.referenced(userId), rights);
    });
  }

  /**
   * Revokes the roles that the authenticator of an identity granted, before the identity is
   * deleted.
   */
  async revokeRoles(identity: RowOf<ExternalIdentity>): Promise<void> {
    await this.apply(identity, await this.users.referenced(identity.user_id), NO_RIGHTS);
  }

  /** Returns the identity of the claims, locked. Creates it with its user if `mayCreate` is true. */
  private async identityOf(
    authenticator: RowOf<Authenticator>,
    claims: Claims,
    mayCreate: boolean,
  ): Promise<RowOf<ExternalIdentity> | undefined> {
    const subject = textAt(claims, 'sub');
    const known = await this.identities.locked(authenticator.id, subject);
    if (known || !mayCreate) return known;
    await this.authenticators.lockFirstLogins(authenticator.id);
    const justCreated = await this.identities.locked(authenticator.id, subject);
    if (justCreated) return justCreated;
    if (!authenticator.create_users) throw refused('This account is not linked to a user.');
    const user = await this.createUser(authenticator, claims);
    await this.identities.insert({
      authenticator_id: authenticator.id,
      subject,
      user_id: user.id,
    });
    return this.identities.locked(authenticator.id, subject);
  }

  /** Creates a user without a password. Never takes over an existing user of the same name. */
  private async createUser(
    { slug, configuration }: RowOf<Authenticator>,
    claims: Claims,
  ): Promise<RowOf<User>> {
    const claim =
      'username_claim' in configuration ? configuration.username_claim : 'preferred_username';
    const username = textAt(claims, claim);
    if (username === '') throw refused(`The claim ${claim} with the username is missing.`);
    if (await this.users.existsBy({ username })) {
      throw refused(`The username ${username} belongs to another account of this controller.`);
    }
    const { values, errors } = readFields(User, {
      first_name: textAt(claims, 'given_name'),
      last_name: textAt(claims, 'family_name'),
      email: textAt(claims, 'email'),
    });
    const profile = Object.entries(values).filter(([name]) => !(name in errors));
    try {
      return await this.resources.create(
        userResource,
        { ...Object.fromEntries(profile), username, password: '' },
        SYSTEM_ACTOR,
        { injected: { external_account: slug } },
      );
    } catch (error) {
      if (error instanceof Invalid) throw refused(`${username} cannot be a username.`);
      throw error;
    }
  }

  /** Enables a user whose account is back in the directory that created the user, as the next sync would. */
  private async enable({ kind, slug }: RowOf<Authenticator>, user: RowOf<User>): Promise<void> {
    if (kind !== 'ldap' || user.external_account !== slug) return;
    if (!(await this.users.setDisabled(user.id, false))) return;
    this.activity.recordUpdate(userResource, user, { is_disabled: [true, false] });
  }

  private async apply(
    identity: RowOf<ExternalIdentity>,
    user: RowOf<User>,
    rights: Rights,
  ): Promise<void> {
    const { authenticator_id: authenticator } = identity;
    const grantedRoles = await this.rolesOf(rights.granted);
    const retainedRoles = await this.rolesOf(rights.retained);
    const retainedIds = [...grantedRoles, ...retainedRoles].map(({ id }) => id);
    for (const role of await this.members.grantedBy(authenticator, user.id)) {
      if (!retainedIds.includes(role.id))
        await this.grants.revokeFromUser(role, user, SYSTEM_ACTOR);
    }
    for (const role of grantedRoles) {
      await this.grants.grantToUser(role, user, SYSTEM_ACTOR, authenticator);
    }
    for (const flag of FLAGS) await this.applyFlag(identity, user, flag, rights);
  }

  private async rolesOf(roles: readonly ExternalRole[]): Promise<RoleRow[]> {
    const found = new Map<number, RoleRow>();
    for (const { type, object, field } of roles) {
      if (object === null) continue;
      const role = await this.roles.ofObject(type, object, field);
      if (role) found.set(role.id, role);
    }
    return [...found.values()];
  }

  /**
   * Sets or clears a system-wide flag. Does not clear flags that administrators set, nor the last
   * superuser's.
   */
  private async applyFlag(
    identity: RowOf<ExternalIdentity>,
    user: RowOf<User>,
    [flag, field]: (typeof FLAGS)[number],
    { granted, retained }: Rights,
  ): Promise<void> {
    const isField = (role: ExternalRole): boolean => role.field === field;
    const isGranted = granted.some(isField);
    if (isGranted && !user[flag]) {
      await this.grants.grantToUser(await this.roles.ofSystem(field), user, SYSTEM_ACTOR);
      await this.identities.update({ id: identity.id }, { [flag]: true });
    }
    if (isGranted || retained.some(isField) || !identity[flag]) return;
    if (flag === 'is_superuser') {
      const superusers = await this.users.lockSuperusers();
      if (superusers.every((id) => id === user.id)) return;
    }
    await this.grants.revokeFromUser(await this.roles.ofSystem(field), user, SYSTEM_ACTOR);
    await this.identities.update({ id: identity.id }, { [flag]: false });
  }
}

/** Returns the error of a refused login. The error is logged as a security event. */
export const refused = (reason: string): Forbidden =>
  new Forbidden(`The login was refused. ${reason}`, 'login_refused');

/** Returns the text of a claim; empty if the claim is missing or not a text. */
function textAt(claims: Claims, path: string): string {
  const value = claimAt(claims, path);
  return typeof value === 'string' ? value : '';
}
