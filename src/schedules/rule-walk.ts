import type { RRuleTemporal } from 'rrule-temporal';
import { messageOf } from '../common/errors/errors.js';

export type Occurrence = ReturnType<RRuleTemporal['all']>[number];

/**
 * Searches one rule in one direction, for instants that only move in this direction. Caches an
 * occurrence until an instant passes it, and does not search an exhausted rule again, so that each
 * period is computed once.
 */
export class RuleWalk {
  private isExhausted = false;
  private found: Occurrence | null = null;

  constructor(
    private readonly rule: RRuleTemporal,
    private readonly direction: 'next' | 'previous',
  ) {}

  /** Returns the nearest occurrence beyond an instant, or at the instant if `inclusive`. */
  from(instant: Date, inclusive: boolean): Occurrence | null {
    if (this.isExhausted || (this.found && this.isAhead(this.found, instant, inclusive))) {
      return this.found;
    }
    this.found = this.search(instant, inclusive);
    this.isExhausted = this.found === null;
    return this.found;
  }

  private isAhead(found: Occurrence, instant: Date, inclusive: boolean): boolean {
    const distance = found.epochMilliseconds - instant.getTime();
    return (this.direction === 'next' ? distance : -distance) > 0 || (inclusive && distance === 0);
  }

  /**
   * Searches the rule. The library throws at its iteration limit, which means that the rule has no
   * further occurrence.
   */
  private search(instant: Date, inclusive: boolean): Occurrence | null {
    try {
      return this.rule[this.direction](instant, inclusive);
    } catch (error) {
      if (messageOf(error).startsWith('Maximum iterations')) return null;
      throw error;
    }
  }
}
