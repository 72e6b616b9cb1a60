import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { TableRepository } from '../../database/table-repository.js';

/**
 * Partitions of events, by ranges of run ids (docs/decisions/0118-partitions-of-events.md). Functions of
 * the database change them: the service's role need not own its tables.
 */
@Injectable()
export class EventPartitionsRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'job_events');
  }

  /**
   * Adds a partition ahead of the runs there are, once they have come to the last one. It is for as many
   * runs as those of the last `days`.
   *
   * @returns whether it did
   */
  async extendAhead(days: number): Promise<boolean> {
    const row = await this.database.row<{ done: boolean }>(sql`
      SELECT extend_job_events(${days}::int) AS done`);
    return row?.done === true;
  }

  /** Has PostgreSQL look, once a day, at what is in all partitions together. @returns whether it did */
  async analyze(): Promise<boolean> {
    const row = await this.database.row<{ done: boolean }>(sql`
      SELECT analyze_job_events() AS done`);
    return row?.done === true;
  }

  /**
   * Drops one partition whose runs all ended some days ago.
   *
   * @returns how many events were in it; null when there is none
   */
  async dropOld(days: number): Promise<number | null> {
    const row = await this.database.row<{ removed: number | null }>(sql`
      SELECT drop_old_job_events(${days}::int) AS removed`);
    return row?.removed ?? null;
  }
}
