import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { SavedLaunch } from '../prompts/saved-prompts.js';
import { RunSchedules } from '../runs/run-causes.js';
import { templateNames, templateVariables } from '../templates/templates.repository.js';
import { Schedule } from './schedule.entity.js';

/** A due schedule with the lists of its prompts. */
export interface DueSchedule extends SavedLaunch {
  rrule: string;
  next_run: Date;
  now: Date;
  unified_job_template_id: number;
  template_type: string;
}

/** A locked schedule. */
interface LockedSchedule {
  id: number;
  /** Number of bytes of the schedule's variables and limit, and of the variables of its template. */
  size: number;
}

/** Result of a due schedule. */
export interface ScheduleOutcome {
  id: number;
  /** Next run; null if there is none. */
  nextRun: Date | null;
  occurrence: Date;
  /** Reason why nothing was launched; empty after a launch. */
  explanation: string;
}

/** Link tables of the list prompts, with the column of the linked object. */
const LINKS = {
  credentials: ['schedule_credentials', 'credential_id'],
  labels: ['schedule_labels', 'label_id'],
  instance_groups: ['schedule_instance_groups', 'instance_group_id'],
} as const;

@Injectable()
export class SchedulesRepository extends TableRepository<Row> implements RunSchedules {
  constructor(@InjectRepository(Schedule) repository: Repository<Schedule>) {
    super(repository);
  }

  names(): Sql {
    return sql`SELECT id, name, unified_job_template_id FROM schedules`;
  }

  /**
   * Locks schedules that are due by the database's clock, and their templates and projects against
   * deletion. Skips schedules that are already locked, and schedules whose template or project is being
   * changed or deleted: a long deletion must not delay the other schedules.
   */
  lockDue(limit: number): Promise<LockedSchedule[]> {
    return this.database.rows<LockedSchedule>(sql`
      SELECT s.id, octet_length(concat(s.extra_data, s."limit"))
        + coalesce(octet_length(own.extra_vars), 0) AS size
      FROM schedules s JOIN (${templateNames()}) t ON t.id = s.unified_job_template_id
      JOIN (${templateVariables()}) own ON own.id = t.id
      JOIN (${templateNames()}) prj ON prj.id = coalesce(t.project_id, t.id)
      WHERE s.enabled AND s.next_run <= now()
      ORDER BY s.next_run, s.id LIMIT ${limit}
      FOR UPDATE OF s SKIP LOCKED FOR KEY SHARE OF t, prj SKIP LOCKED`);
  }

  /** Returns schedules that the transaction has locked. */
  locked(ids: readonly number[]): Promise<DueSchedule[]> {
    return this.database.rows<DueSchedule>(sql`
      SELECT s.*, now() AS now, t.type AS template_type,
        ARRAY(SELECT credential_id FROM schedule_credentials WHERE schedule_id = s.id ORDER BY id)
          AS credentials,
        ARRAY(SELECT label_id FROM schedule_labels WHERE schedule_id = s.id ORDER BY id) AS labels,
        ARRAY(SELECT instance_group_id FROM schedule_instance_groups
          WHERE schedule_id = s.id ORDER BY id) AS instance_groups
      FROM schedules s JOIN (${templateNames()}) t ON t.id = s.unified_job_template_id
      WHERE s.id = ANY(${ids}::int[]) ORDER BY s.next_run, s.id`);
  }

  /** Moves schedules to their next occurrence. */
  async store(outcomes: readonly ScheduleOutcome[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE schedules s SET next_run = given.next_run, last_run = given.occurrence,
        last_run_explanation = given.explanation
      FROM unnest(${outcomes.map(({ id }) => id)}::int[],
        ${outcomes.map(({ nextRun }) => nextRun)}::timestamptz[],
        ${outcomes.map(({ occurrence }) => occurrence)}::timestamptz[],
        ${outcomes.map(({ explanation }) => explanation)}::text[])
        AS given (id, next_run, occurrence, explanation)
      WHERE s.id = given.id`);
  }

  /** Returns the names of a template's schedules that begin with a text. */
  async namesBeginningWith(templateId: number, text: string): Promise<string[]> {
    const rows = await this.database.rows<{ name: string }>(sql`
      SELECT name FROM schedules WHERE unified_job_template_id = ${templateId}
        AND starts_with(name, ${text})`);
    return rows.map(({ name }) => name);
  }

  /** Attaches objects of one kind to a schedule, in the given order. */
  async attach(id: number, kind: keyof typeof LINKS, targets: readonly number[]): Promise<void> {
    const [table, column] = LINKS[kind];
    const links = targets.map((target) => ({ schedule_id: id, [column]: target }));
    await this.insertMany(links, table);
  }
}

/**
 * Returns a query for the next schedule of templates: rows of `template_id`, `id` and `next_run`,
 * the last two null if there is none.
 *
 * @param except schedule that is about to be deleted
 */
export const nextSchedules = (templates: readonly number[], except: number | null): Sql => sql`
  SELECT given.id AS template_id, coming.id, coming.next_run
  FROM unnest(${templates}::int[]) AS given (id) LEFT JOIN LATERAL (
    SELECT s.id, s.next_run FROM schedules s
    WHERE s.unified_job_template_id = given.id AND s.enabled AND s.next_run IS NOT NULL
      AND s.id IS DISTINCT FROM ${except}::int
    ORDER BY s.next_run, s.id LIMIT 1) coming ON true`;
