import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/** Templates of every kind: they share a table and its ids. */
@Injectable()
export class TemplatesRepository extends TableRepository {
  constructor(database: Database) {
    super(database, 'unified_job_templates');
  }

  /**
   * Shows on templates which of their schedules launches them next, and when.
   *
   * @param coming one row a template of `template_id`, `id` of the schedule and `next_run`, both
   *   null where none is coming
   */
  async showNextLaunches(coming: Sql): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates t SET next_job_run = coming.next_run, next_schedule_id = coming.id
      FROM (${coming}) coming
      WHERE t.id = coming.template_id
        AND (t.next_job_run, t.next_schedule_id) IS DISTINCT FROM (coming.next_run, coming.id)`);
  }
}

/** What a template of any kind is called: rows of `id`, `type`, `name`, `description`. */
export const templateNames = (): Sql => sql`
  (SELECT id, type, name, description FROM unified_job_templates)`;
