import type { Sql } from '../database/sql.js';

/** A run as its template shows it. */
export interface RecentRun {
  id: number;
  template_id: number;
  status: string;
  finished: string | null;
  canceled_on: string | null;
  type: string;
}

/** What templates show of their runs, which come later in the order of rooms and implement this. */
export abstract class TemplateRuns {
  /** Query for the newest runs (`RecentRun`) of each template, newest first. */
  abstract recent(templateIds: readonly number[], most: number): Sql;
  /** Query for `id` and `type` of runs. */
  abstract kinds(ids: readonly number[]): Sql;
}
