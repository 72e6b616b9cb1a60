/** Operations on tokens for the users module. Implemented by the auth module. */
export abstract class TokenStore {
  /**
   * Revokes the tokens of a user.
   *
   * @param exceptDigest digest of the token that stays valid; null for none
   */
  abstract endOthers(user: number, exceptDigest: string | null): Promise<void>;
}
