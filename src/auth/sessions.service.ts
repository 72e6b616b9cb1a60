import { Injectable } from '@nestjs/common';
import { issueToken, tokenDigest } from '../common/crypto/tokens.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';

export interface SessionUser {
  id: number;
  username: string;
  is_superuser: boolean;
  is_system_auditor: boolean;
}

const RENEWAL_SECONDS = 60;

/** Browser sessions: sliding age up to a limit, ended by logout or by a change of the password. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Starts a session. @returns the cookie's value */
  async start(userId: number): Promise<string> {
    const { token, digest } = issueToken('acs');
    await this.database.execute(sql`
      INSERT INTO sessions (digest, user_id, generation)
      SELECT ${digest}, id, session_generation FROM users WHERE id = ${userId}`);
    return token;
  }

  /**
   * The user of a session that has not ended. Its age begins anew with a request, written once a
   * minute at most; `renewed` says so, for the browser has to keep the cookie as long.
   */
  async find(cookie: string): Promise<(SessionUser & { renewed: boolean }) | null> {
    const digest = tokenDigest(cookie);
    const { SESSION_COOKIE_AGE: age } = this.settings;
    const row = await this.database.preparedRow<SessionUser & { renewed: boolean }>(sql`
      SELECT usr.id, usr.username, usr.is_superuser, usr.is_system_auditor,
        ses.last_seen < now() - make_interval(secs => ${Math.min(RENEWAL_SECONDS, age / 2)}) AS renewed
      FROM sessions ses JOIN users usr ON usr.id = ses.user_id
      WHERE ${this.isAlive(digest)}`);
    if (!row) return null;
    if (row.renewed) {
      await this.database.execute(
        sql`UPDATE sessions SET last_seen = now() WHERE digest = ${digest}`,
      );
    }
    return row;
  }

  /** Whether a session has not ended, without prolonging it. */
  async isOpen(cookie: string): Promise<boolean> {
    const row = await this.database.preparedRow(sql`
      SELECT 1 FROM sessions ses JOIN users usr ON usr.id = ses.user_id
      WHERE ${this.isAlive(tokenDigest(cookie))}`);
    return row !== undefined;
  }

  async end(cookie: string): Promise<void> {
    await this.database.execute(sql`DELETE FROM sessions WHERE digest = ${tokenDigest(cookie)}`);
  }

  private isAlive(digest: string): Sql {
    const { SESSION_COOKIE_AGE, SESSION_MAX_AGE } = this.settings;
    return sql`ses.digest = ${digest} AND ses.generation = usr.session_generation
        AND ses.last_seen > now() - make_interval(secs => ${SESSION_COOKIE_AGE})
        AND ses.created > now() - make_interval(secs => ${SESSION_MAX_AGE})`;
  }
}
