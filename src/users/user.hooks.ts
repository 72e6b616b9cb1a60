import { Injectable } from '@nestjs/common';
import { assertOtherSuperuser, ExternalFlagStore } from '../access/user-store.js';
import type { Actor } from '../common/access.js';
import { PasswordHasher, PasswordQueueFull } from '../common/crypto/password-hash.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { Forbidden, Invalid, TooManyRequests } from '../common/errors/errors.js';
import { currentScope } from '../common/http/request-scope.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { Settings } from '../config/settings.js';
import { sql } from '../database/sql.js';
import { passwordFaults } from './password-rules.js';
import { SessionStore, TokenStore } from './login-stores.js';
import { UsersRepository } from './users.repository.js';
import type { User } from './user.entity.js';

const USERNAME = /^[\p{L}\p{N}_.@+-]+$/u;
const PASSWORD_REFUSAL = 'Cannot change password: the user holds roles that you do not hold.';
const RETRY_SECONDS = 1;
const SYSTEM_FLAGS = ['is_superuser', 'is_system_auditor'] as const;

@Injectable()
export class UserHooks implements ResourceHooks<User> {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionStore,
    private readonly tokens: TokenStore,
    private readonly externalFlags: ExternalFlagStore,
    private readonly references: ReferencesService,
    private readonly hasher: PasswordHasher,
    private readonly settings: Settings,
  ) {}

  async prepareCreate(values: ValuesOf<User>, actor: Actor): Promise<Prepared<User>> {
    assertUsername(values.username);
    for (const flag of SYSTEM_FLAGS) {
      if (values[flag] === true && !actor.isSuperuser)
        throw new Forbidden(`Cannot change ${flag}.`);
    }
    const { password } = values;
    // Imports send an empty password for an account that cannot log in with a password.
    if (!isNewPassword(password)) return { columns: { password_hash: '' } };
    this.assertPassword(password);
    return { slowColumns: () => this.hash(password, actor) };
  }

  async prepareUpdate(
    row: RowOf<User>,
    values: ValuesOf<User>,
    actor: Actor,
  ): Promise<Prepared<User>> {
    if ('username' in values) assertUsername(values.username);
    if (!actor.isSuperuser) {
      const forbidden = [...SYSTEM_FLAGS, ...(actor.id === row.id ? ['username'] : [])];
      for (const name of forbidden) {
        if (name in values) throw new Forbidden(`Cannot change ${name}.`);
      }
    }
    if (values.is_superuser === false) {
      await assertOtherSuperuser(this.users, row.id, 'Cannot change is_superuser.');
    }
    const { password } = values;
    if (!isNewPassword(password)) return { values: { password: undefined } };
    if (row.external_account !== null && !actor.isSuperuser) {
      const text = `The password is that of the identity provider ${row.external_account}.`;
      throw Invalid.field('password', text);
    }
    await this.assertMaySetPassword(row, actor);
    this.assertPassword(password);
    return {
      // A user with a local password is no longer disabled by the directory.
      columns: { session_generation: sql`session_generation + 1`, is_disabled: false },
      slowColumns: () => this.hash(password, actor),
    };
  }

  /**
   * Keeps flags that are set by hand. Ends all sessions except the current one after a change of the password.
   * Also revokes tokens, if the setting requires it.
   */
  async updated(before: RowOf<User>, after: RowOf<User>): Promise<void> {
    for (const flag of SYSTEM_FLAGS) {
      if (before[flag] !== after[flag]) await this.externalFlags.keepFlag(after.id, flag);
    }
    if (before.session_generation === after.session_generation) return;
    const { sessionDigest, tokenDigest } = currentScope() ?? {};
    if (sessionDigest) {
      await this.sessions.keep(sessionDigest, after.id, after.session_generation);
    }
    if (!this.settings.PASSWORD_CHANGE_ENDS_TOKENS) return;
    await this.tokens.endOthers(after.id, tokenDigest ?? null);
  }

  async prepareDelete(row: RowOf<User>, actor: Actor): Promise<void> {
    if (row.id === actor.id) throw new Forbidden('Cannot delete user.');
    if (row.is_superuser !== true) return;
    await assertOtherSuperuser(this.users, row.id, 'Cannot delete user.');
  }

  /**
   * Prevents privilege escalation: a caller who sets a user's password can act as that user, so the user
   * must not have more permissions than the caller.
   */
  private async assertMaySetPassword({ id }: RowOf<User>, actor: Actor): Promise<void> {
    try {
      await this.references.assertAllowed(resource('user'), [id], 'set_password', actor);
    } catch (error) {
      throw error instanceof Forbidden ? new Forbidden(PASSWORD_REFUSAL) : error;
    }
  }

  /**
   * @throws Forbidden if the caller is an application, whose grant the password would outlive; Invalid for a
   *   password that does not meet the requirements
   */
  private assertPassword(password: string): void {
    if (currentScope()?.isApplication) throw new Forbidden('An application cannot set passwords.');
    const faults = passwordFaults(password, this.settings);
    if (faults.length > 0) throw new Invalid({ password: faults });
  }

  private async hash(password: string, { id }: Actor): Promise<{ password_hash: string }> {
    try {
      return { password_hash: await this.hasher.hash(password, String(id)) };
    } catch (error) {
      throw error instanceof PasswordQueueFull ? new TooManyRequests(RETRY_SECONDS) : error;
    }
  }
}

/** Returns true for a new password. An empty text and the placeholder are not passwords. */
const isNewPassword = (password: unknown): password is string =>
  typeof password === 'string' && password !== '' && password !== ENCRYPTED;

/** @throws Invalid also for compatibility forms such as full-width letters, which look like other letters */
function assertUsername(username: unknown): void {
  if (typeof username !== 'string') return;
  if (!USERNAME.test(username) || username !== username.normalize('NFKC')) {
    throw Invalid.field(
      'username',
      'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
    );
  }
}
