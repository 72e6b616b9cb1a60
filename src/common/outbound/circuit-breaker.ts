import { Injectable } from '@nestjs/common';
import { Batch } from '../batch.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import './tables.js';

/** Failures in a row that open the breaker (docs/contract/operations.md#circuit-breaker). */
const THRESHOLD = 5;
const FIRST_OPEN_SECONDS = 60;
const LONGEST_OPEN_SECONDS = 900;
/** Longer than any attempt takes, so that a probe that died with its process is replaced. */
const PROBE_SECONDS = 120;
/** How long others wait while one attempt probes the destination. */
const PROBE_WAIT_SECONDS = 5;

/** Whether a destination may be called now. */
export type Admission =
  | {
      readonly admitted: true;
      /** It failed lately: tell how it went. */ readonly tracked: boolean;
    }
  | { readonly admitted: false; readonly waitSeconds: number };

interface BreakerState {
  failures: number;
  open_seconds: number;
}

/** What a reader is told of a destination. */
export interface BreakerView {
  /** `half_open`: the next attempt finds out whether it is back. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Failures in a row. */
  readonly failures: number;
  /** When it is asked again; null unless open. */
  readonly open_until: Date | null;
}

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

  constructor(private readonly database: Database) {}

  /** Whether an attempt may be made. When it is not made after all, call `release`. */
  async admit(destination: string): Promise<Admission> {
    const state = await this.states.run(destination);
    if (!state) return { admitted: true, tracked: false };
    if (state.failures < THRESHOLD) return { admitted: true, tracked: true };
    if (state.open_seconds > 0) return { admitted: false, waitSeconds: state.open_seconds };
    return (await this.takeProbe(destination))
      ? { admitted: true, tracked: true }
      : { admitted: false, waitSeconds: PROBE_WAIT_SECONDS };
  }

  /** The destination answered. */
  async succeeded(destination: string): Promise<void> {
    await this.database.execute(
      sql`DELETE FROM outbound_breakers WHERE destination = ${destination}`,
    );
  }

  /** The destination could not be reached or is broken. Attempts under way count once per opening. */
  async failed(destination: string): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO outbound_breakers AS b (destination, failures) VALUES (${destination}, 1)
      ON CONFLICT (destination) DO UPDATE SET
        failures = b.failures + 1,
        probe_until = NULL,
        trips = b.trips + CASE WHEN b.failures + 1 >= ${THRESHOLD}::int
          AND (b.open_until IS NULL OR b.open_until <= now()) THEN 1 ELSE 0 END,
        open_until = CASE WHEN b.failures + 1 >= ${THRESHOLD}::int
          AND (b.open_until IS NULL OR b.open_until <= now())
          THEN now() + make_interval(secs => least(
            ${FIRST_OPEN_SECONDS}::float8 * power(2, least(b.trips, 10)),
            ${LONGEST_OPEN_SECONDS}::float8))
          ELSE b.open_until END`);
  }

  /** Gives an admission back that was not used. */
  async release(destination: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE outbound_breakers SET probe_until = NULL WHERE destination = ${destination}`);
  }

  private async statesOf(destinations: readonly string[]): Promise<(BreakerState | undefined)[]> {
    const rows = await this.database.preparedRows<BreakerState & { destination: string }>(sql`
      SELECT destination, failures,
        coalesce(extract(epoch FROM open_until - now()), 0)::float8 AS open_seconds
      FROM outbound_breakers WHERE destination = ANY(${[...new Set(destinations)]}::text[])`);
    const states = new Map(rows.map(({ destination, ...state }) => [destination, state]));
    return destinations.map((destination) => states.get(destination));
  }

  private async takeProbe(destination: string): Promise<boolean> {
    const taken = await this.database.execute(sql`
      UPDATE outbound_breakers SET probe_until = now() + make_interval(secs => ${PROBE_SECONDS})
      WHERE destination = ${destination} AND (open_until IS NULL OR open_until <= now())
        AND (probe_until IS NULL OR probe_until <= now())`);
    return taken > 0;
  }
}

/** The breakers of destinations that failed lately, in one statement; the others are closed. */
export async function breakersOf(
  destinations: readonly string[],
  database: Database,
): Promise<ReadonlyMap<string, BreakerView>> {
  const rows = await database.rows<BreakerView & { destination: string }>(sql`
    SELECT destination, failures,
      CASE WHEN failures < ${THRESHOLD}::int THEN 'closed' WHEN open_until > now() THEN 'open'
        ELSE 'half_open' END AS state,
      CASE WHEN failures >= ${THRESHOLD}::int AND open_until > now() THEN open_until END AS open_until
    FROM outbound_breakers WHERE destination = ANY(${destinations}::text[])`);
  return new Map(rows.map(({ destination, ...view }) => [destination, view]));
}
