import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import { capabilityColumns } from '../common/resource/representation.js';
import { join, sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { endOfOutput } from '../runs/events/job-events.repository.js';
import type { LeasedRun } from '../runs/run-leases.repository.js';
import type { RunRequest } from '../runs/launcher.js';
import { requestedRuns } from '../runs/runs.repository.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import type { NewUpdate } from '../runs/update-launcher.js';
import type { InventoryUpdate } from './inventory-update.entity.js';

/** A started update with the data of its run, and the end of the output of an earlier attempt. */
export type StartedInventoryUpdate = Pick<
  RowOf<InventoryUpdate>,
  | 'name'
  | 'inventory_id'
  | 'inventory_source_id'
  | 'source'
  | 'source_path'
  | 'source_vars'
  | 'scm_branch'
  | 'source_project_id'
  | 'credential_id'
  | 'enabled_var'
  | 'enabled_value'
  | 'host_filter'
  | 'overwrite'
  | 'overwrite_vars'
  | 'timeout'
  | 'verbosity'
  | 'limit'
> & { cancel_requested: boolean; counter: number; line: number };

@Injectable()
export class InventoryUpdatesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Inserts one update for each request, in their order, with the current options of the source. The lock skips
   * sources that are being deleted; otherwise the foreign key would fail.
   */
  insertOf(requests: readonly RunRequest[]): Promise<NewUpdate[]> {
    return this.database.rows<NewUpdate>(sql`
      INSERT INTO unified_jobs (type, name, description, unified_job_template_id,
        inventory_source_id, inventory_id, organization_id, launch_type, status, source,
        source_path, source_vars, scm_branch, source_project_id, credential_id,
        execution_environment_id, enabled_var, enabled_value, host_filter, overwrite,
        overwrite_vars, timeout, verbosity, "limit", created_by_id, modified_by_id)
      SELECT 'inventory_update', left(inv.name || ' - ' || src.name, 512), src.description, src.id,
        src.id, src.inventory_id, inv.organization_id, wanted.launch_type,
        wanted.status, src.source, src.source_path, src.source_vars, src.scm_branch,
        src.source_project_id, src.credential_id, src.execution_environment_id, src.enabled_var, src.enabled_value,
        src.host_filter, src.overwrite, src.overwrite_vars, src.timeout, src.verbosity, src."limit",
        wanted.created_by_id, wanted.created_by_id
      FROM (${requestedRuns(requests)}) wanted
      JOIN unified_job_templates src ON src.id = wanted.template_id
      JOIN (${allInventories()}) inv ON inv.id = src.inventory_id
      WHERE src.type = 'inventory_source'
      ORDER BY wanted.place
      FOR KEY SHARE OF src, inv
      RETURNING id, type, status, unified_job_template_id, name, organization_id,
        inventory_id`);
  }

  /** Returns a running update. A retry continues the numbering of the update's events. */
  async started(id: number): Promise<StartedInventoryUpdate> {
    return this.database.rowOrFail<StartedInventoryUpdate>(sql`
      SELECT run.name, run.inventory_id, run.inventory_source_id, run.source, run.source_path,
        run.source_vars, run.scm_branch, run.source_project_id, run.credential_id,
        run.enabled_var, run.enabled_value, run.host_filter, run.overwrite, run.overwrite_vars,
        run.timeout, run.verbosity, run."limit", run.cancel_requested, stored.counter, stored.line
      FROM unified_jobs run CROSS JOIN LATERAL (${endOfOutput(sql`run.id`)}) stored
      WHERE run.id = ${id}`);
  }

  /** Returns updates with all columns and the caller's capabilities, in order of id. */
  complete(ids: readonly number[], actor: Actor): Promise<Row[]> {
    const columns = [sql`t.*`, ...capabilityColumns(resource('inventory_update'), actor)];
    return this.database.rows<Row>(sql`
      SELECT ${join(columns)} FROM unified_jobs t WHERE t.id = ANY(${ids}::bigint[]) ORDER BY t.id`);
  }

  /** Stores the project update that an inventory update created for itself. */
  async storeProjectUpdate({ id, attempt }: LeasedRun, projectUpdateId: number): Promise<void> {
    await this.update({ id, attempt }, { source_project_update_id: projectUpdateId });
  }

  async removeOf(source: number): Promise<void> {
    await this.delete({ unified_job_template_id: source, type: 'inventory_update' });
  }
}
