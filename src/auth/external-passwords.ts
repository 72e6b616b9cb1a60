import type { Account } from '../users/users.repository.js';

/** Verifies the passwords of directory accounts. */
export abstract class ExternalPasswords {
  /** Returns the user if the same password was verified recently. */
  abstract remembered(username: string, password: string): Promise<Account | undefined>;

  /**
   * Returns the user with the name and password; undefined if no directory accepts them.
   *
   * @throws Unavailable if a directory does not respond, Forbidden if it refuses the login
   */
  abstract verify(username: string, password: string): Promise<Account | undefined>;
}
