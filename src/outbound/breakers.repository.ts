import { Injectable } from '@nestjs/common';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { Breaker } from './breaker.entity.js';

/** Consecutive failures that open the breaker (docs/contract/operations.md#circuit-breaker). */
const THRESHOLD = 5;
const FIRST_OPEN_SECONDS = 60;
const LONGEST_OPEN_SECONDS = 900;
/** Time after which another attempt can probe, because the process of the first probe died. */
const PROBE_SECONDS = 120;

/** Circuit breaker of a destination with recent failures, as callers of the destination see it. */
export interface BreakerState {
  destination: string;
  /** True if the failures reached the threshold. Only a probe can then call the destination. */
  tripped: boolean;
  /** Seconds until the next attempt is permitted; 0 or less if it is permitted now. */
  open_seconds: number;
}

/** Circuit breaker of a destination in API responses. */
export interface BreakerView {
  /** `half_open`: the next attempt probes the destination. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Consecutive failures. */
  readonly failures: number;
  /** Time of the next probe; null unless open. */
  readonly open_until: Date | null;
}

/** Circuit breakers of destinations with recent failures. A destination without a row is healthy. */
@Injectable()
export class BreakersRepository extends TableRepository<Breaker> {
  constructor(@InjectRepository(Breaker) repository: Repository<Breaker>) {
    super(repository);
  }

  statesOf(destinations: readonly string[]): Promise<BreakerState[]> {
    return this.database.preparedRows<BreakerState>(sql`
      SELECT destination, failures >= ${THRESHOLD}::int AS tripped,
        coalesce(extract(epoch FROM open_until - now()), 0)::float8 AS open_seconds
      FROM outbound_breakers WHERE destination = ANY(${destinations}::text[])`);
  }

  viewsOf(destinations: readonly string[]): Promise<(BreakerView & { destination: string })[]> {
    return this.database.rows<BreakerView & { destination: string }>(sql`
      SELECT destination, failures,
        CASE WHEN failures < ${THRESHOLD}::int THEN 'closed' WHEN open_until > now() THEN 'open'
          ELSE 'half_open' END AS state,
        CASE WHEN failures >= ${THRESHOLD}::int AND open_until > now() THEN open_until END
          AS open_until
      FROM outbound_breakers WHERE destination = ANY(${destinations}::text[])`);
  }

  /** Counts a failure, and opens the breaker at the threshold, each time for longer. */
  async countFailure(destination: string): Promise<void> {
    const opens = sql`b.failures + 1 >= ${THRESHOLD}::int
      AND (b.open_until IS NULL OR b.open_until <= now())`;
    await this.database.execute(sql`
      INSERT INTO outbound_breakers AS b (destination, failures) VALUES (${destination}, 1)
      ON CONFLICT (destination) DO UPDATE SET
        failures = b.failures + 1,
        probe_until = NULL,
        trips = b.trips + CASE WHEN ${opens} THEN 1 ELSE 0 END,
        open_until = CASE WHEN ${opens}
          THEN now() + make_interval(secs => least(
            ${FIRST_OPEN_SECONDS}::float8 * power(2, least(b.trips, 10)),
            ${LONGEST_OPEN_SECONDS}::float8))
          ELSE b.open_until END`);
  }

  /** @returns false if another attempt is probing the destination */
  async takeProbe(destination: string): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE outbound_breakers SET probe_until = now() + make_interval(secs => ${PROBE_SECONDS})
      WHERE destination = ${destination} AND (open_until IS NULL OR open_until <= now())
        AND (probe_until IS NULL OR probe_until <= now())`);
  }

  /** Returns the number of open breakers by the kind of message that is sent to the destination. */
  countOpen(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(sql`
      SELECT coalesce(nullif(split_part(destination, ' ', 2), ''), 'status_post') AS label,
        count(*)::int AS value
      FROM outbound_breakers WHERE open_until > now() GROUP BY 1`);
  }
}
