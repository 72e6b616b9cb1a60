import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { now } from '../../database/table.js';

/** First response to a request with an `Idempotency-Key`, replayed for 24 hours. */
@Entity('idempotency_keys')
export class IdempotencyKey {
  /** Digest of method, path, caller and key. */
  @PrimaryColumn('text')
  key!: string;

  /** Digest of the query and body of the first request. */
  @Column('text')
  request!: string;

  @Column({ type: 'integer', default: 0 })
  status!: number;

  @Column({ type: 'text', nullable: true })
  location!: string | null;

  /** Response body as JSON text. */
  @Column({ type: 'text', default: '' })
  body!: string;

  @Column({ type: 'timestamp with time zone', default: now })
  @Index()
  created!: string;
}
