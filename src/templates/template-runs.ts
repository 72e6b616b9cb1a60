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
  /** The newest runs of each template, newest first. */
  abstract recent(templateIds: readonly number[], most: number): Promise<RecentRun[]>;
  /** Kinds of runs by id. */
  abstract typesOf(ids: readonly number[]): Promise<Map<number, string>>;
}
