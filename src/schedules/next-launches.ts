import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

/** Keeps on templates which of their schedules launches them next, and when. */
@Injectable()
export class NextLaunches {
  constructor(private readonly database: Database) {}

  /** @param leaving schedule that is about to be deleted */
  async follow(templateIds: readonly number[], leaving: number | null = null): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates t SET next_job_run = coming.next_run, next_schedule_id = coming.id
      FROM unnest(${templateIds}::int[]) AS given (id) LEFT JOIN LATERAL (
        SELECT s.id, s.next_run FROM schedules s
        WHERE s.unified_job_template_id = given.id AND s.enabled AND s.next_run IS NOT NULL
          AND s.id IS DISTINCT FROM ${leaving}::int
        ORDER BY s.next_run, s.id LIMIT 1) coming ON true
      WHERE t.id = given.id
        AND (t.next_job_run, t.next_schedule_id) IS DISTINCT FROM (coming.next_run, coming.id)`);
  }
}
