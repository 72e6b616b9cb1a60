import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { defaultEnvironments } from '../organizations/organizations.repository.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { projectSources } from '../templates/templates.repository.js';

/** Kinds of runs that execution environments apply to; project updates use the worker's programs. */
const KINDS = ['job', 'ad_hoc_command', 'inventory_update'];

/**
 * Stores the execution environment of new runs, so that later changes of the environment do not
 * affect them (docs/contract/resources.md#execution-environments).
 */
@Injectable()
@ListensToRuns()
export class RunEnvironments implements RunListener {
  constructor(
    private readonly runs: RunsRepository,
    private readonly settings: RuntimeSettings,
  ) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const created = changes.filter(({ type, isNew }) => isNew === true && KINDS.includes(type));
    if (created.length === 0) return;
    const name = 'DEFAULT_EXECUTION_ENVIRONMENT';
    const { [name]: last } = await this.settings.get(name);
    const ids = created.map(({ jobId }) => jobId);
    await this.runs.settleEnvironments(ids, [...DEFAULTS, sql`${last}::int`]);
  }
}

/** Defaults by precedence: of the project, of its organization, of the inventory's organization. */
const DEFAULTS: readonly Sql[] = [
  sql`(SELECT project.default_environment_id FROM (${projectSources()}) project
    WHERE project.id = run.project_id)`,
  sql`(SELECT org.default_environment_id FROM (${defaultEnvironments()}) org
    WHERE org.id = run.organization_id)`,
  sql`(SELECT org.default_environment_id FROM (${defaultEnvironments()}) org
    JOIN (${allInventories()}) inventory ON inventory.organization_id = org.id
    WHERE inventory.id = run.inventory_id)`,
];
