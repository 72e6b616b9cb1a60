import type { Account } from '../users/users.repository.js';

/** Verifies the passwords of accounts that are in a directory. */
export abstract class ExternalPasswords {
  /** Returns the user whose password was verified a short time ago. */
  abstract remembered(username: string, password: string): Promise<Account | undefined>;

  /**
   * Returns the user of a name and password.
   *
   * @throws Unavailable if a directory does not respond, Forbidden if it refuses the login
   */
  abstract verify(username: string, password: string): Promise<Account | undefined>;
}
