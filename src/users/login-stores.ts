/** Operations on sessions for changes of passwords. Implemented by the auth feature. */
export abstract class SessionStore {
  /**
   * Keeps a session active when the user's other sessions end.
   *
   * @param digest digest of the session's cookie
   */
  abstract keep(digest: string, user: number, generation: number): Promise<void>;
}

/** Operations on tokens for changes of passwords. Implemented by the auth feature. */
export abstract class TokenStore {
  /**
   * Revokes the tokens of a user.
   *
   * @param exceptDigest digest of the token that stays valid; null for none
   */
  abstract endOthers(user: number, exceptDigest: string | null): Promise<void>;
}
