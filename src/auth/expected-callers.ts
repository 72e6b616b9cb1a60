import type { Actor } from '../common/access.js';

/** Tokens that are remembered, a hundred bytes each. */
const MOST = 5000;

/**
 * Who came with a token the last time: a guess, and never an answer. What is asked of PostgreSQL with the
 * token is put for him, and thrown away unless it is he again
 * (docs/decisions/0112-who-asks-and-what-for.md).
 */
export class ExpectedCallers {
  private readonly callers = new Map<string, Actor>();

  /** @param digest of the token */
  of(digest: string): Actor | undefined {
    return this.callers.get(digest);
  }

  /** Notes who it was; of too many tokens the one that came first is forgotten. */
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

/** Whether what was put for one is what would be put for the other. */
export const isSameCaller = (one: Actor, other: Actor): boolean =>
  one.id === other.id &&
  one.isSuperuser === other.isSuperuser &&
  one.isSystemAuditor === other.isSystemAuditor &&
  one.isConfined === other.isConfined;
