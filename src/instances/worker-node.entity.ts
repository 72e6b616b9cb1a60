import { Column, Entity, PrimaryColumn } from 'typeorm';
import { now } from '../database/table.js';

/** Time without a heartbeat after which a worker counts as lost, in seconds. */
export const NODE_LOST_SECONDS = 30;

/** Worker process; the row of a dead process remains until another worker deletes the row. */
@Entity('worker_nodes')
export class WorkerNode {
  /** Name `<hostname>/<host key>/<pid>-<random>`, which also identifies the holder of a lease. */
  @PrimaryColumn('text')
  name!: string;

  @Column('text')
  hostname!: string;

  /** Equal for processes that see each other's process ids and share the work folder. */
  @Column('text')
  host_key!: string;

  @Column('integer')
  pid!: number;

  /**
   * Start time of the process from the kernel, which distinguishes the process from a later process with
   * the same id.
   */
  @Column('text')
  start_time!: string;

  /** Number of concurrent runs of the worker; 0 if it accepts no runs. */
  @Column('integer')
  capacity!: number;

  @Column({ type: 'timestamp with time zone', default: now })
  last_seen!: string;
}
