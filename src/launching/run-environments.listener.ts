import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { ident, join, sql, type Sql } from '../database/sql.js';
import { allEnvironments } from '../execution-environments/execution-environments.repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { defaultEnvironments } from '../organizations/organizations.repository.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { Settings } from '../config/settings.js';
import { changedSetting } from '../settings/settings.repository.js';
import { ResolvedEnvironments } from '../templates/template-summaries.service.js';
import { projectSources } from '../templates/templates.repository.js';

/** Kinds of runs that all defaults apply to. */
const KINDS = ['job', 'ad_hoc_command', 'inventory_update'];

/**
 * Stores the execution environment of new runs, so that later changes of the environment do not
 * affect them (docs/contract/resources.md#execution-environments).
 */
@Injectable()
@ListensToRuns()
export class RunEnvironments extends ResolvedEnvironments implements RunListener {
  constructor(
    private readonly runs: RunsRepository,
    private readonly settings: Settings,
  ) {
    super();
  }

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const created = (kinds: readonly string[]): number[] =>
      changes.flatMap(({ type, isNew, jobId }) => (isNew && kinds.includes(type) ? [jobId] : []));
    const [runs, updates] = [created(KINDS), created(['project_update'])];
    if (runs.length > 0) await this.runs.storeEnvironments(runs, this.defaults());
    // A project update uses only the default environment of its project. Without a default, the
    // programs of the worker install the requirements.
    if (updates.length > 0) await this.runs.storeEnvironments(updates, [OF_PROJECT]);
  }

  of(template: Row, actor: Actor): Sql {
    const own = OWN_COLUMNS.map((name) => sql`${template[name] ?? null}::int AS ${ident(name)}`);
    const candidates = [sql`run.execution_environment_id`, ...this.defaults()];
    return sql`
      SELECT env.id, env.name, env.description, env.image,
        (${permit(resource('execution_environment').policy, 'read', 'env', actor)}) AS may_read
      FROM (SELECT ${join(own)}) run
      JOIN (${allEnvironments()}) env ON env.id = coalesce(${join(candidates)})`;
  }

  private defaults(): Sql[] {
    const name = 'DEFAULT_EXECUTION_ENVIRONMENT';
    return [
      ...DEFAULTS,
      sql`(${changedSetting(name)})::text::int`,
      sql`${this.settings[name]}::int`,
    ];
  }
}

/** Columns of templates that determine the environment of their runs. */
const OWN_COLUMNS = ['execution_environment_id', 'project_id', 'organization_id', 'inventory_id'];

/** Default of the project of a run. */
const OF_PROJECT = sql`(SELECT project.default_environment_id FROM (${projectSources()}) project
    WHERE project.id = run.project_id)`;

/** Defaults by precedence: of the run's project, organization, and inventory's organization. */
const DEFAULTS: readonly Sql[] = [
  OF_PROJECT,
  sql`(SELECT org.default_environment_id FROM (${defaultEnvironments()}) org
    WHERE org.id = run.organization_id)`,
  sql`(SELECT org.default_environment_id FROM (${defaultEnvironments()}) org
    JOIN (${allInventories()}) inventory ON inventory.organization_id = org.id
    WHERE inventory.id = run.inventory_id)`,
];
