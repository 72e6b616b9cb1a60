import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { insertRow, type ColumnValues } from '../database/rows.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import type { JobProject } from '../runs/job-contexts.repository.js';
import { hasInvalidSignature } from '../runs/runs.repository.js';
import { projectSources } from '../templates/templates.repository.js';
import type { InventorySource } from './inventory-source.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** Key of the advisory lock on starting due updates, unique in this database. */
const DUE_LOCK = 7_306;

/** The fields of a source's project that affect the source. */
export interface ProjectOfSource {
  scm_type: string;
  allow_override: boolean;
  status: string;
  scm_update_on_launch: boolean;
}

/** A source with the fields that determine if an update can start. */
export interface StartableSource extends Row {
  name: string;
  source: string;
  source_project_id: number | null;
  credential_id: number | null;
  scm_branch: string;
  /** Project, and whether its last update failed because of its signature; null without a project. */
  project: (ProjectOfSource & { has_invalid_signature: boolean }) | null;
}

/** A source that must be updated before a job starts. */
export interface DueSource {
  inventory_id: number;
  source_id: number;
  /** Active update of the source, if any. */
  active_update_id: number | null;
}

/** The editable options of a constructed inventory's source. */
export interface ConstructedOptions {
  inventory_id: number;
  source_vars: string;
  update_cache_timeout: number;
  limit: string;
  verbosity: number;
}

@Injectable()
export class InventorySourcesRepository extends TableRepository<RowOf<InventorySource>> {
  constructor(@InjectRepository(UnifiedTemplate) repository: Repository<UnifiedTemplate>) {
    super(repository);
  }

  inventory(id: number): Promise<{ kind: string; organization_id: number } | undefined> {
    return this.database.row(sql`
      SELECT inv.kind, inv.organization_id FROM (${allInventories()}) inv WHERE inv.id = ${id}`);
  }

  /**
   * Returns the fields of a project that affect its sources; undefined if there is no such project.
   */
  project(id: number): Promise<(ProjectOfSource & Record<string, unknown>) | undefined> {
    return this.database.row(sql`
      SELECT prj.scm_type, prj.allow_override, prj.status, prj.scm_update_on_launch
      FROM (${projectSources()}) prj WHERE prj.id = ${id} AND prj.type = 'project'`);
  }

  /**
   * Returns the project of a source with the fields that updates need; undefined if it was deleted.
   */
  projectFiles(id: number): Promise<JobProject | undefined> {
    return this.database.row<JobProject & Record<string, unknown>>(sql`
      SELECT prj.id, prj.scm_type, prj.scm_url, prj.scm_branch, prj.scm_refspec, prj.scm_revision,
        prj.credential_id, prj.local_path, prj.allow_override, prj.organization_id,
        prj.scm_track_submodules, prj.scm_delete_on_update, prj.signature_validation_credential_id
      FROM (${projectSources()}) prj WHERE prj.id = ${id} AND prj.type = 'project'`);
  }

  /** Inserts the source of a constructed inventory, which clients cannot create. */
  insertHidden(columns: ColumnValues): Promise<RowOf<InventorySource>> {
    return this.database.rowOrFail(insertRow('unified_job_templates', columns));
  }

  /** Returns the sources of constructed inventories. */
  hiddenOf(inventories: readonly number[]): Promise<(ConstructedOptions & Row)[]> {
    return this.database.preparedRows<ConstructedOptions & Row>(sql`
      SELECT id, inventory_id, source_vars, update_cache_timeout, "limit", verbosity
      FROM unified_job_templates
      WHERE type = 'inventory_source' AND source = 'constructed'
        AND inventory_id = ANY(${inventories}::int[])`);
  }

  /** Copies the editable options of one constructed inventory's source to that of another. */
  async copyOptions(original: number, copy: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates src SET source_vars = other.source_vars, "limit" = other."limit",
        update_cache_timeout = other.update_cache_timeout, verbosity = other.verbosity
      FROM unified_job_templates other
      WHERE src.type = 'inventory_source' AND src.source = 'constructed'
        AND src.inventory_id = ${copy} AND other.type = 'inventory_source'
        AND other.source = 'constructed' AND other.inventory_id = ${original}`);
  }

  async storeCredential(id: number, credential: number | null): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates SET credential_id = ${credential}::int, modified = now()
      WHERE id = ${id}`);
  }

  /** Returns sources with the fields that starting an update needs, in order of id. */
  startable(ids: readonly number[]): Promise<StartableSource[]> {
    return this.database.rows<StartableSource>(startableWhere(sql`src.id = ANY(${ids}::int[])`));
  }

  /** Returns all sources of an inventory with the fields that starting an update needs. */
  startableOf(inventoryId: number): Promise<StartableSource[]> {
    return this.database.rows<StartableSource>(
      startableWhere(sql`src.inventory_id = ${inventoryId}`),
    );
  }

  /**
   * Returns the sources of some inventories that jobs must wait for
   * (docs/contract/inventory-sources.md#update-on-launch). Other callers wait until the transaction ends,
   * and then see the updates that it started.
   */
  async due(inventories: readonly number[]): Promise<(DueSource & Row)[]> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${DUE_LOCK})`);
    return this.database.rows<DueSource & Row>(sql`
      SELECT src.inventory_id, src.id AS source_id,
        CASE WHEN latest.status IN ('pending', 'waiting', 'running') THEN latest.id END
          AS active_update_id
      FROM unified_job_templates src
      LEFT JOIN LATERAL (
        SELECT id, status, finished, launch_type FROM unified_jobs
        WHERE type = 'inventory_update' AND unified_job_template_id = src.id AND status <> 'new'
        ORDER BY id DESC LIMIT 1) latest ON true
      WHERE src.type = 'inventory_source' AND src.update_on_launch
        AND src.inventory_id = ANY(${inventories}::int[])
        AND (latest.status IS DISTINCT FROM 'successful'
          OR latest.finished + greatest(make_interval(secs => src.update_cache_timeout),
            CASE WHEN latest.launch_type = 'callback' THEN interval '1 minute' END) < now())
      ORDER BY src.id`);
  }
}

const startableWhere = (condition: Sql): Sql => sql`
  SELECT src.id, src.name, src.source, src.source_project_id, src.credential_id, src.scm_branch,
    CASE WHEN prj.id IS NOT NULL THEN json_build_object('scm_type', prj.scm_type,
      'allow_override', prj.allow_override, 'status', prj.status,
      'scm_update_on_launch', prj.scm_update_on_launch,
      'has_invalid_signature', ${hasInvalidSignature(sql`prj.last_job_id`)}) END AS project
  FROM unified_job_templates src LEFT JOIN (${projectSources()}) prj ON prj.id = src.source_project_id
  WHERE src.type = 'inventory_source' AND ${condition} ORDER BY src.id`;
