/** What users need of their tokens. Implemented by the auth module. */
export abstract class TokenStore {
  /**
   * Ends the tokens of a user.
   *
   * @param kept digest of the one that goes on; null for none
   */
  abstract endOthers(user: number, kept: string | null): Promise<void>;
}
