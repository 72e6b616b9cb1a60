import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import { usersHolding } from '../access/role-ancestors.repository.js';
import type { SystemFlag, UserStore } from '../access/user-store.js';
import { permit, type Actor } from '../common/access.js';
import { existing } from '../common/invariants.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { User } from './user.entity.js';

/** Identity and system-wide flags of a user, for authentication. */
export interface Account {
  id: number;
  username: string;
  is_superuser: boolean;
  is_system_auditor: boolean;
  has_second_factor: boolean;
  /** Generation of the sessions that are active; a new password ends earlier generations. */
  session_generation: number;
  /** True before the first login; only `accountByName` sets this field. */
  is_new?: boolean;
}

/** Returns the query for all accounts that can log in, with the generation of their sessions. */
export const accounts = (): Sql => sql`
  SELECT id, username, is_superuser, is_system_auditor, has_second_factor, session_generation,
    external_account
  FROM users WHERE NOT is_disabled`;

/** Returns the query for the users without a local password, disabled ones included. */
export const externalAccounts = (): Sql => sql`
  SELECT id, external_account, is_disabled FROM users WHERE password_hash = ''`;

/** Columns of an `Account`, from the table alias `usr`. */
export const ACCOUNT = sql`
  usr.id, usr.username, usr.is_superuser, usr.is_system_auditor, usr.has_second_factor,
  usr.session_generation`;

/** Returns the query for the names of users, for joins. */
export const userNames = (): Sql => sql`
  SELECT id, username, email, first_name, last_name FROM users`;

/** Returns the name of a user as an SQL value; null if the reader cannot see the user. */
export const usernameOf = (id: Sql, reader: Actor): Sql => sql`(
  SELECT usr.username FROM users usr
  WHERE usr.id = ${id} AND ${permit(resource('user').policy, 'read', 'usr', reader)})`;

/**
 * Returns the query for the users among `ids` who hold no role in an organization. Superusers
 * belong to every organization.
 */
export const usersOutside = (ids: Sql, organization: number): Sql => sql`
  SELECT usr.id FROM users usr WHERE usr.id IN (${ids}) AND NOT usr.is_superuser
    AND usr.id NOT IN (
      ${usersHolding('organization', 'read_role', (id) => sql`${id} = ${organization}`)})`;

@Injectable()
export class UsersRepository extends TableRepository<RowOf<User>> implements UserStore {
  constructor(@InjectRepository(User) repository: Repository<User>) {
    super(repository);
  }

  /** @throws Error if the id is not a user's */
  async referenced(id: number): Promise<RowOf<User>> {
    return this.database.rowOrFail<RowOf<User>>(sql`SELECT * FROM users WHERE id = ${id}`);
  }

  accountByName(username: string): Promise<(Account & { password_hash: string }) | undefined> {
    return this.database.row(sql`
      SELECT ${ACCOUNT}, usr.password_hash, usr.last_login IS NULL AS is_new FROM users usr
      WHERE usr.username = ${username} AND NOT usr.is_disabled`);
  }

  accountById(id: number): Promise<(Account & { password_hash: string }) | undefined> {
    return this.database.row(sql`
      SELECT ${ACCOUNT}, usr.password_hash FROM users usr
      WHERE usr.id = ${id} AND NOT usr.is_disabled`);
  }

  /** Returns the superuser with the lowest id. */
  firstSuperuser(): Promise<Pick<Account, 'id' | 'username'> | undefined> {
    return this.database.row(
      sql`SELECT id, username FROM users WHERE is_superuser ORDER BY id LIMIT 1`,
    );
  }

  hasSuperuser(): Promise<boolean> {
    return this.existsBy({ is_superuser: true });
  }

  /** Returns true if a superuser has a local password. */
  hasLocalSuperuser(): Promise<boolean> {
    return this.existsBy({ is_superuser: true, password_hash: Not('') });
  }

  /**
   * Disables or enables a user without a local password.
   *
   * @returns false if nothing changed
   */
  async setDisabled(id: number, value: boolean): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE users SET is_disabled = ${value}, modified = now()
      WHERE id = ${id} AND is_disabled <> ${value} AND password_hash = ''`);
  }

  /**
   * Creates a superuser, or enables an existing user as a superuser with a new password, which ends the
   * sessions of the user.
   *
   * @returns the id of the user
   */
  async saveSuperuser(username: string, passwordHash: string): Promise<number> {
    const [id] = await this.database.ids(sql`
      INSERT INTO users (username, password_hash, is_superuser)
      VALUES (${username}, ${passwordHash}, true)
      ON CONFLICT (username) DO UPDATE SET is_superuser = true, is_disabled = false, modified = now(),
        password_hash = EXCLUDED.password_hash,
        session_generation = users.session_generation + 1
      RETURNING id`);
    return existing(id, 'an upsert returns its row');
  }

  /** Returns an account and locks it against changes until the transaction ends. */
  lockAccount(id: number): Promise<Account | undefined> {
    return this.database.preparedRow<Account & Record<string, unknown>>(sql`
      SELECT ${ACCOUNT} FROM users usr WHERE usr.id = ${id} AND NOT usr.is_disabled FOR SHARE`);
  }

  /**
   * Records whether a user has a second factor. The first second factor ends all earlier sessions.
   *
   * @returns the generation of the sessions that remain; undefined if nothing changed
   */
  async setSecondFactor(id: number, value: boolean): Promise<number | undefined> {
    const row = await this.database.row<{ session_generation: number }>(sql`
      UPDATE users SET has_second_factor = ${value}, modified = now(),
        session_generation = session_generation + ${value ? 1 : 0}::int
      WHERE id = ${id} AND has_second_factor <> ${value} RETURNING session_generation`);
    return row?.session_generation;
  }

  /** Locks accounts for a change, always in the same order. */
  async lockForChange(ids: readonly number[]): Promise<void> {
    await this.database.preparedRows(sql`
      SELECT id FROM users WHERE id = ANY(${ids}::int[]) ORDER BY id FOR NO KEY UPDATE`);
  }

  /** Records a login, at most once a minute, and not while another request holds a lock on the user. */
  async noteLogin(id: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE users SET last_login = now() WHERE id IN (
        SELECT id FROM users
        WHERE id = ${id} AND (last_login IS NULL OR last_login < now() - interval '1 minute')
        FOR NO KEY UPDATE SKIP LOCKED)`);
  }

  lockSuperusers(): Promise<number[]> {
    return this.database.ids(
      sql`SELECT id FROM users WHERE is_superuser AND NOT is_disabled ORDER BY id FOR UPDATE`,
    );
  }

  hasOtherSuperuser(user: number): Promise<boolean> {
    return this.existsBy({ is_superuser: true, is_disabled: false, id: Not(user) });
  }

  async setFlag(id: number, flag: SystemFlag, value: boolean): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE users SET ${ident(flag)} = ${value}, modified = now()
      WHERE id = ${id} AND ${ident(flag)} <> ${value}`);
  }
}
