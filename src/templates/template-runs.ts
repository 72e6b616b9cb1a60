import type { Sql } from '../database/sql.js';

/** A run in the representation of its template. */
export interface RecentRun {
  id: number;
  template_id: number;
  status: string;
  finished: string | null;
  canceled_on: string | null;
  type: string;
}

/** The runs of templates; implemented by the feature `runs`. */
export abstract class TemplateRuns {
  /** Returns a query for the newest runs (`RecentRun`) of each template, newest first. */
  abstract recent(templateIds: readonly number[], limit: number): Sql;
  /** Returns a query for `id` and `type` of runs. */
  abstract kinds(ids: readonly number[]): Sql;
}
