/** Operations on tokens for changes of passwords. Implemented by the auth feature. */
export abstract class TokenStore {
  /**
   * Revokes the tokens of a user.
   *
   * @param exceptDigest digest of the token that stays valid; null for none
   */
  abstract endOthers(user: number, exceptDigest: string | null): Promise<void>;
}
