import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { Database } from '../database/database.js';
import { Launcher, type LaunchCheck, type RunRequest, type LaunchResult } from './launcher.js';
import type { NewRun } from './run-states.repository.js';
import type { RunTransitions } from './run-transitions.service.js';

/** An inserted update with the fields of its activity entry. */
export type NewUpdate = NewRun & Row & { name: string; organization_id: number | null };

/** Launches updates or system jobs of templates of one kind. */
export abstract class UpdateLauncher extends Launcher {
  /** Field of an update that refers to its template. */
  protected abstract readonly templateField: 'project' | 'inventory_source' | 'system_job_template';
  /** Error for a template that cannot be updated: the template has no source, or was deleted. */
  protected abstract readonly noUpdate: string;

  constructor(
    database: Database,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {
    super(database);
  }

  plan(requests: readonly RunRequest[], _actor: Actor | null): Promise<LaunchCheck[]> {
    return Promise.resolve(requests.map((request) => planOf(request)));
  }

  start(plans: readonly LaunchCheck[]): Promise<LaunchResult[]> {
    if (plans.length === 0) return Promise.resolve([]);
    return this.database.transaction(async () => {
      const rows = await this.insert(plans.map(({ request }) => request));
      for (const row of rows) {
        const { id, name, unified_job_template_id: templateId } = row;
        this.activity.record({
          operation: 'create',
          object1: refOf(resource(row.type), row),
          changes: { id, name, [this.templateField]: templateId },
        });
      }
      await this.transitions.created(rows);
      return plans.map(({ request: { templateId } }) => {
        const at = rows.findIndex((row) => row.unified_job_template_id === templateId);
        const [row] = at < 0 ? [] : rows.splice(at, 1);
        return row
          ? { run: { id: row.id, type: row.type, ignored: {} }, errors: {} }
          : { run: null, errors: { [this.templateField]: [this.noUpdate] } };
      });
    });
  }

  /**
   * Inserts updates with the current options of their templates, in the order of the requests. Skips
   * templates that were deleted or have no source.
   */
  protected abstract insert(requests: readonly RunRequest[]): Promise<NewUpdate[]>;
}

/** Returns the plan of a request. Callers check the permission to launch the template. */
export const planOf = (request: RunRequest, errors: LaunchCheck['errors'] = {}): LaunchCheck => ({
  request,
  errors,
  isForbidden: false,
  ignored: {},
});
