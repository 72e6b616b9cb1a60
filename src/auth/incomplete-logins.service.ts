import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { SecretBox } from '../common/crypto/secret-box.js';
import type { Cookies } from '../common/http/cookies.js';
import {
  clearSealedCookie,
  openState,
  sealedCookie,
  sealState,
  setSealedCookie,
} from '../common/http/sealed-state.js';
import { UsersRepository, type Account } from '../users/users.repository.js';

/** Login with a verified password that still requires the second factor. */
export interface IncompleteLogin {
  account: Account;
  /** Path to redirect to after the login. */
  next: string;
}

const COOKIE = 'controller_half_login';
const CONTEXT = ['half login'];
const LIFETIME_MS = 300_000;

/**
 * Stores logins that still require the second factor in a sealed cookie, which grants no access.
 */
@Injectable()
export class IncompleteLogins {
  constructor(
    private readonly users: UsersRepository,
    private readonly box: SecretBox,
  ) {}

  begin(response: Response, { account, next }: IncompleteLogin): void {
    const { id, session_generation: generation } = account;
    const sealed = sealState(this.box, CONTEXT, { id, generation, next }, LIFETIME_MS);
    setSealedCookie(response, COOKIE, sealed, LIFETIME_MS);
  }

  /**
   * Returns the login of a browser; null if there is no login, the login expired, or the user's sessions
   * were ended since, for example by a new password.
   */
  async find(request: Cookies): Promise<IncompleteLogin | null> {
    const login = openState(this.box, CONTEXT, sealedCookie(request, COOKIE));
    if (!login) return null;
    const account = await this.users.findOneBy({ id: Number(login.id) });
    if (account?.session_generation !== login.generation) return null;
    return account && { account, next: String(login.next) };
  }

  end(response: Response): void {
    clearSealedCookie(response, COOKIE);
  }
}
