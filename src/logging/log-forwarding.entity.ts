import { Column, Entity, PrimaryColumn } from 'typeorm';

/** State of the log aggregator; the table has one row. */
@Entity('log_forwarding')
export class LogForwarding {
  @PrimaryColumn('integer')
  id!: number;

  /** Worker that sends activity entries, and the end of its lease. */
  @Column({ type: 'text', default: '' })
  holder!: string;

  @Column({ type: 'timestamp with time zone', nullable: true })
  lease_until!: string | null;

  /** Number of records that the bounded buffers of all processes have dropped. */
  @Column({ type: 'bigint', default: 0 })
  dropped!: number;
}
