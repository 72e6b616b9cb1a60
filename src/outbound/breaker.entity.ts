import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Destination with recent failures. A destination without a row is healthy. */
@Entity('outbound_breakers')
export class Breaker {
  @PrimaryColumn('text')
  destination!: string;

  /** Consecutive failures. */
  @Column({ type: 'integer', default: 0 })
  failures!: number;

  /** Number of consecutive openings of the breaker, which decides for how long it stays open. */
  @Column({ type: 'integer', default: 0 })
  trips!: number;

  @Column({ type: 'timestamp with time zone', nullable: true })
  open_until!: string | null;

  /** End of the time in which one attempt probes the destination. */
  @Column({ type: 'timestamp with time zone', nullable: true })
  probe_until!: string | null;
}
