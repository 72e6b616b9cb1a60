import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { isLockTimeout, isStatementTimeout } from '../../database/sql-state.js';
import { sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { JobEvent } from './job-event.entity.js';

/** Age in days that no run has. */
const LONG_AGO = 100_000;

/**
 * Partitions of events by ranges of run ids (docs/decisions/0118-event-partitions.md). Database
 * functions change them, so that the role of `DATABASE_URL` does not have to own the tables.
 */
@Injectable()
export class EventPartitionsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(JobEvent) repository: Repository<JobEvent>) {
    super(repository);
  }

  /**
   * Adds a partition in advance, once runs have reached the last partition. Its size is at least the number
   * of runs of the last `days`.
   *
   * @returns true if a partition was added
   */
  async extendAhead(days: number): Promise<boolean> {
    const row = await this.database.row<{ done: boolean }>(sql`
      SELECT extend_job_events(${days}::int) AS done`);
    return row?.done === true;
  }

  /**
   * Makes PostgreSQL analyze all partitions together, once a day.
   *
   * @returns true if PostgreSQL analyzed the partitions
   */
  async analyze(): Promise<boolean> {
    const row = await this.database.row<{ done: boolean }>(sql`
      SELECT analyze_job_events() AS done`);
    return row?.done === true;
  }

  /**
   * Drops one partition whose runs all ended at least `days` ago.
   *
   * @returns number of its events; null if there is no such partition, or if a transaction, such as that of a
   *   backup, reads the events all the time: a later cleanup drops the partition
   */
  async dropOld(days: number): Promise<number | null> {
    try {
      const row = await this.database.row<{ removed: number | null }>(sql`
        SELECT drop_old_job_events(${days}::int) AS removed`);
      return row?.removed ?? null;
    } catch (error) {
      if (isStatementTimeout(error) || isLockTimeout(error)) return null;
      throw error;
    }
  }

  /**
   * Drops one partition whose runs were all deleted.
   *
   * @returns false if there is no such partition
   */
  async dropEmpty(): Promise<boolean> {
    return (await this.dropOld(LONG_AGO)) !== null;
  }
}
