import { Injectable } from '@nestjs/common';
import { issueToken, tokenDigest } from '../common/crypto/tokens.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

export interface SessionUser {
  id: number;
  username: string;
  is_superuser: boolean;
  is_system_auditor: boolean;
}

/** Browser sessions: sliding age, ended by logout or by a change of the password. */
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

  async find(cookie: string): Promise<SessionUser | null> {
    const digest = tokenDigest(cookie);
    const row = await this.database.preparedRow<SessionUser & { stale: boolean }>(sql`
      SELECT usr.id, usr.username, usr.is_superuser, usr.is_system_auditor,
        ses.last_seen < now() - interval '1 minute' AS stale
      FROM sessions ses JOIN users usr ON usr.id = ses.user_id
      WHERE ses.digest = ${digest} AND ses.generation = usr.session_generation
        AND ses.last_seen > now() - make_interval(secs => ${this.settings.SESSION_COOKIE_AGE})`);
    if (!row) return null;
    if (row.stale) {
      await this.database.execute(
        sql`UPDATE sessions SET last_seen = now() WHERE digest = ${digest}`,
      );
    }
    return row;
  }

  async end(cookie: string): Promise<void> {
    await this.database.execute(sql`DELETE FROM sessions WHERE digest = ${tokenDigest(cookie)}`);
  }
}
