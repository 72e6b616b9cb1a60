/**
 * Operations on sessions when a password changes, for the users module, which belongs to a lower layer.
 * Implemented by the auth module.
 */
export abstract class SessionStore {
  /**
   * Keeps a session active when the user's other sessions end.
   *
   * @param digest digest of the session's cookie
   */
  abstract keep(digest: string, user: number, generation: number): Promise<void>;
}
