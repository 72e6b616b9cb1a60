import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { SessionStore } from '../users/login-stores.js';
import { ACCOUNT, accounts, type Account } from '../users/users.repository.js';
import { Session } from './session.entity.js';

/** Digest of a session, with the maximum ages of sessions. */
export interface SessionLimits {
  digest: string;
  /** Maximum age since the last request. */
  ageSeconds: number;
  /** Maximum age since the start. */
  maxAgeSeconds: number;
  /** Maximum age since the start for users of an authenticator. */
  externalSeconds: number;
}

/** User of a session. `renewed` is true if the request extended the session. */
export interface SessionUser extends Account {
  is_external: boolean;
  renewed: boolean;
}

@Injectable()
export class SessionsRepository extends TableRepository<Session> implements SessionStore {
  constructor(@InjectRepository(Session) repository: Repository<Session>) {
    super(repository);
  }

  /**
   * Starts a session.
   *
   * @param generation no session is started if the user's sessions have another generation; null: any
   */
  async start(
    digest: string,
    user: number,
    isExternal: boolean,
    generation: number | null,
  ): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO sessions (digest, user_id, generation, is_external)
      SELECT ${digest}, usr.id, usr.session_generation, ${isExternal} FROM (${accounts()}) usr
      WHERE usr.id = ${user}
        AND usr.session_generation = coalesce(${generation}::int, usr.session_generation)`);
  }

  /**
   * Deletes all sessions of a user but the newest ones. Does not count sessions that a change of the
   * password ended.
   *
   * @param ageSeconds maximum age since the last request; older sessions are not counted
   */
  async keepNewest(user: number, limit: number, ageSeconds: number): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM sessions WHERE user_id = ${user} AND digest NOT IN (
        SELECT digest FROM sessions
        WHERE user_id = ${user} AND last_seen > now() - make_interval(secs => ${ageSeconds})
          AND generation = (SELECT session_generation FROM (${accounts()}) usr WHERE usr.id = ${user})
        ORDER BY created DESC, digest LIMIT ${limit}::int)`);
  }

  /**
   * Returns the user of an active session. `renewed` is true if the last recorded request is older than
   * `quietSeconds`.
   */
  user(session: SessionLimits, quietSeconds: number): Promise<SessionUser | undefined> {
    return this.database.preparedRow<SessionUser & Record<string, unknown>>(sql`
      SELECT ${ACCOUNT}, ses.is_external,
        ses.last_seen < now() - make_interval(secs => ${quietSeconds}) AS renewed
      ${fromActiveSession(session)}`);
  }

  async isOpen(session: SessionLimits): Promise<boolean> {
    const row = await this.database.preparedRow(sql`SELECT 1 ${fromActiveSession(session)}`);
    return row !== undefined;
  }

  /**
   * Returns the user of an active session, and locks user and session until the transaction ends. The
   * user is locked first.
   */
  lockUser(session: SessionLimits): Promise<Account | undefined> {
    return this.database.preparedRow<Account & Record<string, unknown>>(sql`
      SELECT ${ACCOUNT} ${fromActiveSession(session)} FOR SHARE OF usr FOR SHARE OF ses`);
  }

  /** Records a request of the session, unless another request holds a lock on it. */
  async touch(digest: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE sessions SET last_seen = now() WHERE digest IN (
        SELECT digest FROM sessions WHERE digest = ${digest} FOR NO KEY UPDATE SKIP LOCKED)`);
  }

  async keep(digest: string, user: number, generation: number): Promise<void> {
    await this.update({ digest, user_id: user }, { generation });
  }

  /** Returns the number of sessions without a request for `days` days. */
  countInactive(days: number): Promise<number> {
    return this.countOlder({ column: 'last_seen', days });
  }

  /** Deletes up to `limit` sessions without a request for `days` days. */
  removeInactive(days: number, limit: number): Promise<number> {
    return this.removeOlder({ column: 'last_seen', days }, limit);
  }

  async end(digest: string): Promise<void> {
    await this.delete({ digest });
  }
}

/** Returns the FROM and WHERE of a session `ses` with its user `usr`, if the session is active. */
const fromActiveSession = (session: SessionLimits): Sql => sql`
  FROM sessions ses JOIN (${accounts()}) usr ON usr.id = ses.user_id
  WHERE ses.digest = ${session.digest} AND ses.generation = usr.session_generation
    AND ses.last_seen > now() - make_interval(secs => ${session.ageSeconds})
    AND ses.created > now() - make_interval(secs => ${session.maxAgeSeconds})
    AND (usr.external_account IS NULL
      OR ses.created > now() - make_interval(secs => ${session.externalSeconds}))`;
