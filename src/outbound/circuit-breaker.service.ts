import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { BreakersRepository, type BreakerState, type BreakerView } from './breakers.repository.js';

/** Time that other attempts wait while one attempt probes the destination. */
const PROBE_WAIT_SECONDS = 5;

/** Result of the check if an attempt to a destination can be made now. */
export type Admission =
  | {
      readonly admitted: true;
      /** True if the destination has recent failures, so that the outcome must be reported. */
      readonly tracked: boolean;
    }
  | { readonly admitted: false; readonly waitSeconds: number };

/** State of a destination without recent failures. */
export const CLOSED_BREAKER: BreakerView = { state: 'closed', failures: 0, open_until: null };

/**
 * Blocks attempts to destinations that are down (docs/contract/operations.md#circuit-breaker). Five
 * consecutive failures open the breaker for a minute, doubling to fifteen minutes; then one attempt
 * probes the destination, and success closes the breaker. The state is in the database and uses its
 * clock, so that all workers share it and it survives a restart.
 */
@Injectable()
export class CircuitBreaker {
  private readonly states = new Batch((destinations: readonly string[]) =>
    this.statesOf(destinations),
  );

  constructor(private readonly breakers: BreakersRepository) {}

  /** Decides whether an attempt can be made. If the attempt is not made after all, call `release`. */
  async admit(destination: string): Promise<Admission> {
    const state = await this.states.run(destination);
    if (!state) return { admitted: true, tracked: false };
    if (!state.tripped) return { admitted: true, tracked: true };
    if (state.open_seconds > 0) return { admitted: false, waitSeconds: state.open_seconds };
    return (await this.breakers.takeProbe(destination))
      ? { admitted: true, tracked: true }
      : { admitted: false, waitSeconds: PROBE_WAIT_SECONDS };
  }

  /** Reports that the destination responded. */
  async succeeded(destination: string): Promise<void> {
    await this.breakers.delete({ destination });
  }

  /**
   * Reports that the destination was unreachable or failed. Concurrent attempts open the breaker only
   * once.
   */
  failed(destination: string): Promise<void> {
    return this.breakers.countFailure(destination);
  }

  /** Returns an unused admission. */
  async release(destination: string): Promise<void> {
    await this.breakers.update({ destination }, { probe_until: null });
  }

  private async statesOf(destinations: readonly string[]): Promise<(BreakerState | undefined)[]> {
    const states = await this.breakers.statesOf([...new Set(destinations)]);
    const byDestination = new Map(states.map((state) => [state.destination, state]));
    return destinations.map((destination) => byDestination.get(destination));
  }
}
