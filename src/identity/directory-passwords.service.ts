import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ExternalPasswords } from '../auth/external-passwords.js';
import { Unavailable } from '../common/errors/errors.js';
import type { Account } from '../users/users.repository.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { ExternalIdentitiesRepository } from './external-identities.repository.js';
import { ExternalLogins } from './external-logins.service.js';
import { LdapClient } from './ldap-client.service.js';

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

interface Verified {
  authenticator: number;
  user: number;
  expiresAt: number;
}

/**
 * Logs in users with the passwords of LDAP directories. Remembers a verified password for a minute,
 * because clients with Basic authentication send the password with every request.
 */
@Injectable()
export class DirectoryPasswords implements ExternalPasswords {
  private readonly secret = randomBytes(32);
  private readonly verified = new Map<string, Verified>();

  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly identities: ExternalIdentitiesRepository,
    private readonly logins: ExternalLogins,
    private readonly client: LdapClient,
  ) {}

  async remembered(username: string, password: string): Promise<Account | undefined> {
    const cached = this.verified.get(this.keyOf(username, password));
    if (!cached || cached.expiresAt < Date.now()) return undefined;
    return this.identities.account(cached.authenticator, cached.user);
  }

  /** Tries the directories in order. Continues with the next directory if one is unavailable. */
  async verify(username: string, password: string): Promise<Account | undefined> {
    let unavailable: Unavailable | undefined;
    for (const directory of await this.authenticators.directories()) {
      const claims = await this.client
        .claims(directory, username, password)
        .catch((error: unknown) => {
          if (!(error instanceof Unavailable)) throw error;
          unavailable ??= error;
          return null;
        });
      if (!claims) continue;
      const user = await this.logins.logIn(directory, claims);
      this.remember(username, password, { authenticator: directory.id, user });
      return this.identities.account(directory.id, user);
    }
    if (unavailable) throw unavailable;
    return undefined;
  }

  private remember(username: string, password: string, login: Omit<Verified, 'expiresAt'>): void {
    const key = this.keyOf(username, password);
    // Insertion order: a new entry goes to the end of the map, so the first entry is the oldest.
    this.verified.delete(key);
    this.verified.set(key, { ...login, expiresAt: Date.now() + REMEMBERED_MS });
    const [oldest] = this.verified.keys();
    if (this.verified.size > MAX_REMEMBERED && oldest) this.verified.delete(oldest);
  }

  private keyOf(username: string, password: string): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([username, password]))
      .digest('base64');
  }
}
