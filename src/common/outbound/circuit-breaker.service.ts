import { Injectable } from '@nestjs/common';
import { Batch } from '../batch.js';
import { BreakersRepository, type BreakerState, type BreakerView } from './breakers.repository.js';
import './tables.js';

/** How long others wait while one attempt probes the destination. */
const PROBE_WAIT_SECONDS = 5;

/** Whether a destination may be called now. */
export type Admission =
  | {
      readonly admitted: true;
      /** It failed lately: tell how it went. */
      readonly tracked: boolean;
    }
  | { readonly admitted: false; readonly waitSeconds: number };

/** Of a destination that did not fail lately. */
export const CLOSED_BREAKER: BreakerView = { state: 'closed', failures: 0, open_until: null };

/**
 * Keeps attempts away from destinations that are down
 * (docs/contract/operations.md#circuit-breaker): five failures in a row open the breaker for a
 * minute, doubling to fifteen; then one attempt probes, and success closes it. The state is in the
 * database, by its clock, so that all workers share it and a restart does not forget it.
 */
@Injectable()
export class CircuitBreaker {
  private readonly states = new Batch((destinations: readonly string[]) =>
    this.statesOf(destinations),
  );

  constructor(private readonly breakers: BreakersRepository) {}

  /** Whether an attempt may be made. When it is not made after all, call `release`. */
  async admit(destination: string): Promise<Admission> {
    const state = await this.states.run(destination);
    if (!state) return { admitted: true, tracked: false };
    if (!state.tripped) return { admitted: true, tracked: true };
    if (state.open_seconds > 0) return { admitted: false, waitSeconds: state.open_seconds };
    return (await this.breakers.takeProbe(destination))
      ? { admitted: true, tracked: true }
      : { admitted: false, waitSeconds: PROBE_WAIT_SECONDS };
  }

  /** The destination answered. */
  succeeded(destination: string): Promise<void> {
    return this.breakers.forget(destination);
  }

  /** The destination could not be reached or is broken. Attempts under way count once per opening. */
  failed(destination: string): Promise<void> {
    return this.breakers.countFailure(destination);
  }

  /** Gives an admission back that was not used. */
  release(destination: string): Promise<void> {
    return this.breakers.releaseProbe(destination);
  }

  private async statesOf(destinations: readonly string[]): Promise<(BreakerState | undefined)[]> {
    const states = await this.breakers.statesOf([...new Set(destinations)]);
    const byDestination = new Map(states.map((state) => [state.destination, state]));
    return destinations.map((destination) => byDestination.get(destination));
  }
}
