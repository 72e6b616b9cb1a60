/** What a change of a password needs of sessions, a room above users. Implemented by the auth module. */
export abstract class SessionStore {
  /** Has a session go on where the others of the user end. @param digest of the session's cookie */
  abstract keep(digest: string, user: number, generation: number): Promise<void>;
}
