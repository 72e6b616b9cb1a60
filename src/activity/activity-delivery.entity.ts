import { Entity, PrimaryColumn } from 'typeorm';

/** Activity entry that was not sent to the log aggregator yet. Written in the entry's transaction. */
@Entity('activity_deliveries')
export class ActivityDelivery {
  @PrimaryColumn('bigint')
  entry_id!: number;
}
