/** Run that a token identifies; `runId` is null outside of runs, such as for a test of a credential. */
export interface TokenSubject {
  runId: number | null;
  /** Revision of the project that the run uses, once it is known. */
  revision: string;
}

/** Issues tokens that prove the identity of a run to other services (docs/run-identity.md). */
export abstract class IdentityTokens {
  /**
   * @param audience service that accepts the token
   * @param use `login`: valid for minutes; `run`: valid as long as the run may last
   */
  abstract issue(subject: TokenSubject, audience: string, use: 'login' | 'run'): Promise<string>;
}
