import type { Actor } from '../common/access.js';

/** Maximum number of remembered tokens, about a hundred bytes each. */
const MOST = 5000;

/**
 * Caller of the last request with each token. This is a prediction and never authenticates: it only
 * allows combining the look-up of the token with the query for the caller's row. The row is discarded
 * unless the caller is the expected one (docs/decisions/0112-expected-callers.md).
 */
export class ExpectedCallers {
  private readonly callers = new Map<string, Actor>();

  /** @param digest digest of the token */
  of(digest: string): Actor | undefined {
    return this.callers.get(digest);
  }

  /** Remembers the caller of a token. At the maximum, drops the token that was added first. */
  note(digest: string, actor: Actor): void {
    if (!this.callers.has(digest) && this.callers.size >= MOST) {
      const [first = digest] = this.callers.keys();
      this.callers.delete(first);
    }
    this.callers.set(digest, actor);
  }

  forget(digest: string): void {
    this.callers.delete(digest);
  }
}

/** True if a statement compiled for one caller is the same for the other. */
export const isSameCaller = (one: Actor, other: Actor): boolean =>
  one.id === other.id &&
  one.isSuperuser === other.isSuperuser &&
  one.isSystemAuditor === other.isSystemAuditor &&
  one.isConfined === other.isConfined;
