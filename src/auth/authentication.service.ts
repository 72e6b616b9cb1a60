import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { PasswordHasher } from '../common/crypto/password-hash.js';
import { tokenDigest } from '../common/crypto/tokens.js';
import { isStorable } from '../common/fields/text.js';
import { sessionOf } from '../common/http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../common/http/csrf.js';
import {
  Forbidden,
  LoginRefused,
  SecondFactorRequired,
  Unauthenticated,
} from '../common/errors/errors.js';
import { currentScope } from '../common/http/request-scope.js';
import { Settings } from '../config/settings.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { UsersRepository, type Account } from '../users/users.repository.js';
import { ExternalPasswords } from './external-passwords.js';
import { LoginThrottle, type Guess } from './login-throttle.service.js';
import { SessionsService } from './sessions.service.js';
import { TokensRepository } from './tokens.repository.js';

/** Parts of a request that authentication reads. */
export interface Credentials {
  method: string;
  ip: string;
  headers: IncomingHttpHeaders;
  /** True if the request used https. */
  secure: boolean;
  /** True if the request extends the session. */
  extendsSession: boolean;
  body?: Record<string, unknown>;
  /** True if a session can send the request before its user has set up a required second factor. */
  isBeforeSecondFactor?: boolean;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
const USE_TOKEN =
  'This account has, or must set up, a second factor: send a token instead of the password.';
const BAD_PASSWORD = 'Invalid username/password. To establish a login session, visit /api/login/.';

/**
 * Authenticates requests by Bearer token, session cookie, or HTTP Basic, in this order
 * (docs/contract/conventions.md#authentication).
 */
@Injectable()
export class AuthenticationService {
  constructor(
    private readonly users: UsersRepository,
    private readonly tokens: TokensRepository,
    private readonly sessions: SessionsService,
    private readonly hasher: PasswordHasher,
    private readonly external: ExternalPasswords,
    private readonly throttle: LoginThrottle,
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
  ) {}

  /**
   * Returns the caller, or null for an anonymous request; an unknown or expired token is anonymous.
   *
   * @throws Unauthenticated for a wrong password or an invalid header; Forbidden for a write with a read-only
   *   token or without a valid CSRF token, and for a session without a required second factor;
   *   TooManyRequests, Unavailable
   */
  async authenticate(credentials: Credentials): Promise<Actor | null> {
    const header = credentials.headers.authorization;
    const [scheme = '', value = ''] = typeof header === 'string' ? splitOnce(header) : [];
    switch (scheme.toLowerCase()) {
      case 'bearer':
        return this.byToken(value, credentials);
      case 'basic':
        return this.settings.AUTH_BASIC_ENABLED ? this.byBasic(value, credentials.ip) : null;
      default:
        return this.bySession(credentials);
    }
  }

  /**
   * Logs in with the password alone.
   *
   * @throws LoginRefused also for an account that has, or must have, a second factor
   */
  async byPassword(username: string, password: string, ip: string): Promise<Actor> {
    return this.logIn(await this.accountByPassword(username, password, ip));
  }

  /**
   * Returns the account that can log in with the password alone.
   *
   * @throws LoginRefused also for an account that has, or must have, a second factor
   */
  async accountByPassword(username: string, password: string, ip: string): Promise<Account> {
    const account = await this.verifyPassword(username, password, ip);
    if (account.has_second_factor || (await this.lacksSecondFactor(account))) {
      throw new LoginRefused(USE_TOKEN, account.username);
    }
    return account;
  }

  /** Records the login of an account. */
  async logIn(account: Account): Promise<Actor> {
    await this.users.noteLogin(account.id);
    return this.actorOf(account);
  }

  /**
   * Verifies a password, in the same time for known and unknown users. A recently verified password
   * does not count as a guess. Users who can log in with a local password are never looked up in a directory.
   *
   * @throws Unauthenticated, Forbidden, TooManyRequests, Unavailable
   */
  async verifyPassword(username: string, password: string, ip: string): Promise<Account> {
    const user = isStorable(username) ? await this.users.accountByName(username) : undefined;
    const account =
      user?.password_hash && (await this.mayUseLocal(user))
        ? await this.byLocalPassword(user, { username, password, address: ip })
        : // Separate address key: checks of a slow directory must not use up the limit of local users.
          await this.byDirectory({ username, password, address: `${ip} directory` });
    if (!account) throw new LoginRefused(BAD_PASSWORD, user?.username);
    return account;
  }

  /**
   * Returns the account of a user whose passkey replaces the password. Accounts of a directory need their
   * password, because the directory decides whether they may log in.
   *
   * @throws LoginRefused
   */
  async accountWithoutPassword(id: number): Promise<Account> {
    const account = await this.users.accountById(id);
    if (account?.password_hash && (await this.mayUseLocal(account))) return account;
    throw new LoginRefused('This account cannot log in with a passkey alone.', account?.username);
  }

  /** Returns true if `REQUIRE_TWO_FACTORS` requires a second factor that the account does not have. */
  async lacksSecondFactor(
    account: Pick<Account, 'has_second_factor' | 'is_superuser' | 'is_system_auditor'>,
  ): Promise<boolean> {
    if (account.has_second_factor) return false;
    const { REQUIRE_TWO_FACTORS } = await this.runtime.get('REQUIRE_TWO_FACTORS');
    if (REQUIRE_TWO_FACTORS !== 'admins') return REQUIRE_TWO_FACTORS === 'all';
    return account.is_superuser || account.is_system_auditor;
  }

  /** Returns true if the local password of a user may be used. */
  async mayUseLocal(user: Pick<Account, 'is_superuser'>): Promise<boolean> {
    if (user.is_superuser) return true;
    return !(await this.runtime.get('DISABLE_LOCAL_AUTH')).DISABLE_LOCAL_AUTH;
  }

  private async byLocalPassword(
    { password_hash: hash, ...user }: Account & { password_hash: string },
    guess: Guess,
  ): Promise<Account | undefined> {
    if (this.hasher.hasCachedCheck(guess.password, hash)) return user;
    return this.throttle.attempt(guess, async () =>
      (await this.hasher.verify(guess.password, hash)) ? user : undefined,
    );
  }

  private async byDirectory(guess: Guess): Promise<Account | undefined> {
    const { username, password } = guess;
    const remembered = await this.external.remembered(username, password);
    if (remembered) return remembered;
    return this.throttle.attempt(guess, async () => {
      const [account] = await Promise.all([
        isStorable(username) ? this.external.verify(username, password) : undefined,
        this.hasher.dummyVerify(password),
      ]);
      return account;
    });
  }

  private actorOf(user: Account): Actor {
    return {
      id: user.id,
      username: user.username,
      isSuperuser: user.is_superuser,
      isSystemAuditor: user.is_system_auditor,
      isConfined: !this.settings.ORG_ADMINS_CAN_SEE_ALL_USERS,
    };
  }

  private async byToken(token: string, { method }: Credentials): Promise<Actor | null> {
    const digest = tokenDigest(token);
    const use = await this.tokens.use(digest);
    if (!use) return null;
    const isReadOnly = !use.scope.includes('write');
    if (isReadOnly && !SAFE.has(method)) throw new Forbidden();
    if (use.stale) await this.tokens.touch(digest);
    const scope = currentScope();
    const isApplication = use.application_id !== null;
    if (scope) Object.assign(scope, { tokenDigest: digest, isReadOnly, isApplication });
    return this.actorOf(use);
  }

  private async byBasic(value: string, ip: string): Promise<Actor> {
    if (value === '') {
      throw new Unauthenticated('Invalid basic header. No credentials provided.');
    }
    if (value.includes(' ')) {
      throw new Unauthenticated(
        'Invalid basic header. Credentials string should not contain spaces.',
      );
    }
    const bytes = Buffer.from(value, 'base64');
    // Clients without a charset send Latin-1 (RFC 7617, section 3).
    const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
    const colon = text.indexOf(':');
    if (colon < 0) throw new LoginRefused(BAD_PASSWORD);
    return this.byPassword(text.slice(0, colon), text.slice(colon + 1), ip);
  }

  private async bySession(credentials: Credentials): Promise<Actor | null> {
    const { method, headers, body, extendsSession } = credentials;
    const session = sessionOf(credentials);
    if (!session) return null;
    const user = await this.sessions.find(session, extendsSession);
    if (!user) return null;
    const scope = currentScope();
    if (scope) {
      scope.sessionDigest = tokenDigest(session);
      if (user.renewed) scope.renewedSession = session;
    }
    if (!SAFE.has(method)) {
      assertCsrf(credentials, headers['x-csrftoken'] ?? body?.[CSRF_FIELD]);
      assertSameSite(credentials);
    }
    if (!credentials.isBeforeSecondFactor && !user.is_external) {
      if (await this.lacksSecondFactor(user)) throw new SecondFactorRequired();
    }
    return this.actorOf(user);
  }
}

function splitOnce(header: string): [string, string] {
  const [scheme = '', ...rest] = header.trim().split(' ');
  return [scheme, rest.join(' ').trim()];
}
