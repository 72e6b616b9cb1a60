import { Injectable } from '@nestjs/common';
import { PasswordQueueFull } from '../common/crypto/password-hash.js';
import { tokenDigest } from '../common/crypto/tokens.js';
import { TooManyRequests, Unavailable } from '../common/errors/errors.js';
import { RateLimiter } from '../common/rate/rate-limiter.service.js';
import { Settings } from '../config/settings.js';
import type { Account } from '../users/users.repository.js';

/**
 * Maximum number of passwords of one address that are checked, or wait for the check, at the same time.
 */
const MAX_CONCURRENT = 8;
const RETRY_SECONDS = 1;

/** Attempt to log in with a password. */
export interface Guess {
  username: string;
  password: string;
  address: string;
}

/**
 * Limits the guessing of passwords (docs/contract/access.md#guessing). A guess is counted before
 * the check, so that concurrent guesses cannot exceed the limit. The count is reverted if the
 * password is correct, or if the check ended with an error, for example in a full queue. Two limits
 * apply: guesses for an account from one address, so that one sender cannot lock out others, and
 * guesses for an account from all addresses. Identical concurrent guesses count once, because
 * clients with Basic authentication send the password with every request.
 */
@Injectable()
export class LoginThrottle {
  private readonly running = new Map<string, Promise<Account | undefined>>();
  /** Number of running checks by address. */
  private readonly checks = new Map<string, number>();

  constructor(
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  /**
   * @param verify verifies the password, and returns its user
   * @throws TooManyRequests, Unavailable if too many passwords wait for their check, and the errors of
   *   `verify`
   */
  attempt(guess: Guess, verify: () => Promise<Account | undefined>): Promise<Account | undefined> {
    const { username, password, address } = guess;
    const key = tokenDigest(JSON.stringify([address, username, password]));
    const running = this.running.get(key);
    if (running) return running;
    const attempt = this.countedAttempt(guess, verify).finally(() => this.running.delete(key));
    this.running.set(key, attempt);
    return attempt;
  }

  private async countedAttempt(
    { username, address }: Guess,
    verify: () => Promise<Account | undefined>,
  ): Promise<Account | undefined> {
    const count = this.checks.get(address) ?? 0;
    if (count >= MAX_CONCURRENT) throw new TooManyRequests(RETRY_SECONDS);
    this.checks.set(address, count + 1);
    try {
      const { LOGIN_RATE, LOGIN_ACCOUNT_RATE } = this.settings;
      const account = tokenDigest(foldedName(username));
      const refunds = [
        await this.limiter.take('login', `${address}:${account}`, LOGIN_RATE),
        await this.limiter.take('login-account', account, LOGIN_ACCOUNT_RATE),
      ];
      let isWrong = false;
      try {
        const account = await verify();
        isWrong = account === undefined;
        return account;
      } finally {
        if (!isWrong) for (const refund of refunds) refund();
      }
    } catch (error) {
      throw error instanceof PasswordQueueFull ? new Unavailable(RETRY_SECONDS) : error;
    } finally {
      const remaining = (this.checks.get(address) ?? 1) - 1;
      if (remaining > 0) this.checks.set(address, remaining);
      else this.checks.delete(address);
    }
  }
}

/**
 * Returns one text for all spellings of a username that directories do not distinguish: case, accents, widths,
 * blanks and invisible characters.
 */
const foldedName = (username: string): string =>
  username
    .normalize('NFKD')
    .replace(/[\p{M}\p{C}\s]/gu, '')
    .toLowerCase();
