import type { RRuleTemporal } from 'rrule-temporal';
import { messageOf } from '../common/errors/message-of.js';

export type Occurrence = ReturnType<RRuleTemporal['all']>[number];

/**
 * One rule gone through in one direction, for instants that only move on. What was found holds until it
 * is passed, and a rule that has nothing more is not gone through again: each of its periods is looked
 * at once, however often it is asked.
 */
export class RuleWalk {
  private isOver = false;
  private found: Occurrence | null = null;

  constructor(
    private readonly rule: RRuleTemporal,
    private readonly direction: 'next' | 'previous',
  ) {}

  /** The nearest occurrence beyond an instant, or at it. */
  from(instant: Date, inclusive: boolean): Occurrence | null {
    if (this.isOver || (this.found && this.isAhead(this.found, instant, inclusive))) {
      return this.found;
    }
    this.found = this.search(instant, inclusive);
    this.isOver = this.found === null;
    return this.found;
  }

  private isAhead(found: Occurrence, instant: Date, inclusive: boolean): boolean {
    const distance = found.epochMilliseconds - instant.getTime();
    return (this.direction === 'next' ? distance : -distance) > 0 || (inclusive && distance === 0);
  }

  /** The library gives up after its limit by throwing; a rule that old has no further occurrence. */
  private search(instant: Date, inclusive: boolean): Occurrence | null {
    try {
      return this.rule[this.direction](instant, inclusive);
    } catch (error) {
      if (messageOf(error).startsWith('Maximum iterations')) return null;
      throw error;
    }
  }
}
