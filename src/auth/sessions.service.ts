import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { issueToken, tokenDigest } from '../common/crypto/tokens.js';
import { sessionCookieName, setCsrfCookie, setSessionCookie } from '../common/http/cookies.js';
import { csrfTokenOf } from '../common/http/csrf.js';
import { Settings } from '../config/settings.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import type { Account } from '../users/users.repository.js';
import { SessionsRepository, type SessionLimits, type SessionUser } from './sessions.repository.js';

const RENEWAL_SECONDS = 60;

/** Browser sessions with a sliding and a maximum age. A logout or a new password ends sessions. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
  ) {}

  /**
   * Starts a session, and ends the oldest sessions above `SESSIONS_PER_USER`.
   *
   * @param generation generation of the user's sessions when the password was verified, so that a
   *   concurrent change of the password also ends this session; null without a password
   * @returns the value of the cookie
   */
  async start(
    userId: number,
    isExternal = false,
    generation: number | null = null,
  ): Promise<string> {
    const { token, digest } = issueToken('acs');
    await this.sessions.start(digest, userId, isExternal, generation);
    const { SESSIONS_PER_USER: max } = await this.runtime.get('SESSIONS_PER_USER');
    if (max >= 0) {
      await this.sessions.keepNewest(userId, Math.max(max, 1), this.settings.SESSION_COOKIE_AGE);
    }
    return token;
  }

  /**
   * Starts a session and sets its cookies.
   *
   * @param isExternal true if an identity provider logged the user in
   * @returns the CSRF token of the session
   */
  async open(
    request: Request,
    response: Response,
    user: Pick<Account, 'id'> & Partial<Pick<Account, 'session_generation'>>,
    isExternal = false,
  ): Promise<string> {
    const cookie = await this.start(user.id, isExternal, user.session_generation);
    const csrf = csrfTokenOf(cookie);
    setSessionCookie(request, response, cookie, this.settings.SESSION_COOKIE_AGE);
    setCsrfCookie(request, response, csrf);
    response.setHeader('X-API-Session-Cookie-Name', sessionCookieName(request));
    return csrf;
  }

  /**
   * Returns the user of an active session; null for other sessions. A request extends the session, at most
   * once a minute; `renewed` is then true, because the browser's cookie must be extended too.
   *
   * @param extendsSession true if the request extends the session
   */
  async find(cookie: string, extendsSession: boolean): Promise<SessionUser | null> {
    const session = this.limitsOf(tokenDigest(cookie));
    const renewalSeconds = Math.min(RENEWAL_SECONDS, session.ageSeconds / 2);
    const user = await this.sessions.user(session, renewalSeconds);
    if (!user) return null;
    const renewed = extendsSession && user.renewed;
    if (renewed) await this.sessions.touch(session.digest);
    return { ...user, renewed };
  }

  /** Returns true if a session is active; does not extend the session. */
  isOpen(cookie: string): Promise<boolean> {
    return this.sessions.isOpen(this.limitsOf(tokenDigest(cookie)));
  }

  async end(cookie: string): Promise<void> {
    await this.sessions.end(tokenDigest(cookie));
  }

  /** Returns the user of an active session, locked until the transaction ends. */
  lockUser(digest: string): Promise<Account | undefined> {
    return this.sessions.lockUser(this.limitsOf(digest));
  }

  private limitsOf(digest: string): SessionLimits {
    const { SESSION_COOKIE_AGE, SESSION_MAX_AGE, EXTERNAL_SESSION_AGE } = this.settings;
    return {
      digest,
      ageSeconds: SESSION_COOKIE_AGE,
      maxAgeSeconds: SESSION_MAX_AGE,
      externalSeconds: EXTERNAL_SESSION_AGE || SESSION_MAX_AGE,
    };
  }
}

/**
 * Returns the path to redirect to after a login. Accepts only a path on this server, because the value is
 * untrusted input.
 */
export const nextPath = (value: unknown): string =>
  typeof value === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(value) ? value : '/api/v2/';
