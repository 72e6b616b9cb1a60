/** Operations on tokens for the users module. Implemented by the auth module. */
export abstract class TokenStore {
  /**
   * Revokes the tokens of a user.
   *
   * @param kept digest of the token that stays valid; null for none
   */
  abstract endOthers(user: number, kept: string | null): Promise<void>;
}
