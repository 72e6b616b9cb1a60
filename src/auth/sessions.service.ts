import { Injectable } from '@nestjs/common';
import { issueToken, tokenDigest } from '../common/crypto/tokens.js';
import { Settings } from '../config/settings.js';
import type { Account } from '../users/users.repository.js';
import { SessionsRepository, type LivingSession } from './sessions.repository.js';

const RENEWAL_SECONDS = 60;

/** Browser sessions: sliding age up to a limit, ended by logout or by a change of the password. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly settings: Settings,
  ) {}

  /** Starts a session. @returns the cookie's value */
  async start(userId: number): Promise<string> {
    const { token, digest } = issueToken('acs');
    await this.sessions.start(digest, userId);
    return token;
  }

  /**
   * The user of a session that has not ended. Its age begins anew with a request, written once a
   * minute at most; `renewed` says so, for the browser has to keep the cookie as long.
   *
   * @param prolongs whether it begins anew
   */
  async find(cookie: string, prolongs: boolean): Promise<(Account & { renewed: boolean }) | null> {
    const session = this.living(tokenDigest(cookie));
    const quiet = Math.min(RENEWAL_SECONDS, session.ageSeconds / 2);
    const user = await this.sessions.user(session, quiet);
    if (!user) return null;
    const renewed = prolongs && user.renewed;
    if (renewed) await this.sessions.touch(session.digest);
    return { ...user, renewed };
  }

  /** Whether a session has not ended, without prolonging it. */
  isOpen(cookie: string): Promise<boolean> {
    return this.sessions.isOpen(this.living(tokenDigest(cookie)));
  }

  async end(cookie: string): Promise<void> {
    await this.sessions.end(tokenDigest(cookie));
  }

  /** The user of a session that has not ended, locked until the transaction ends. */
  lockUser(digest: string): Promise<Account | undefined> {
    return this.sessions.lockUser(this.living(digest));
  }

  private living(digest: string): LivingSession {
    const { SESSION_COOKIE_AGE, SESSION_MAX_AGE } = this.settings;
    return {
      digest,
      ageSeconds: SESSION_COOKIE_AGE,
      maxAgeSeconds: SESSION_MAX_AGE,
    };
  }
}
