import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { TableRepository } from '../../database/table-repository.js';

/** Failures in a row that open the breaker (docs/contract/operations.md#circuit-breaker). */
const THRESHOLD = 5;
const FIRST_OPEN_SECONDS = 60;
const LONGEST_OPEN_SECONDS = 900;
/** Longer than any attempt takes, so that a probe that died with its process is replaced. */
const PROBE_SECONDS = 120;

/** A destination that failed lately, as those who would call it see it. */
export interface BreakerState {
  destination: string;
  /** It failed so often that it may not be called, or only to find out whether it is back. */
  tripped: boolean;
  /** Until it may be tried again; 0 when it may be now. */
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

export interface BreakerRow {
  destination: string;
  failures: number;
  trips: number;
  open_until: string | null;
  probe_until: string | null;
}

/** Destinations that failed lately. One without a row is in order. */
@Injectable()
export class BreakersRepository extends TableRepository<BreakerRow> {
  constructor(database: Database) {
    super(database, 'outbound_breakers');
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

  /** Counts a failure, and opens the breaker where it is one too many, each time for longer. */
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

  /** @returns whether nobody else is finding out whether the destination is back */
  async takeProbe(destination: string): Promise<boolean> {
    const taken = await this.database.execute(sql`
      UPDATE outbound_breakers SET probe_until = now() + make_interval(secs => ${PROBE_SECONDS})
      WHERE destination = ${destination} AND (open_until IS NULL OR open_until <= now())
        AND (probe_until IS NULL OR probe_until <= now())`);
    return taken > 0;
  }

  async releaseProbe(destination: string): Promise<void> {
    await this.update({ destination }, { probe_until: null });
  }

  async forget(destination: string): Promise<void> {
    await this.delete({ destination });
  }

  /** Open breakers, by what is sent to the destination. */
  countOpen(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(sql`
      SELECT coalesce(nullif(split_part(destination, ' ', 2), ''), 'status_post') AS label,
        count(*)::int AS value
      FROM outbound_breakers WHERE open_until > now() GROUP BY 1`);
  }
}
