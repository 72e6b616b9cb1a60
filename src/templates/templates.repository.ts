import { Injectable } from '@nestjs/common';
import type { ForkRule } from '../code-hosts/forks.js';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { join, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { InventoryTemplates } from '../inventories/inventory-uses.js';
import { UnifiedTemplate } from './unified-template.entity.js';

export interface TemplateName {
  id: number;
  type: string;
  name: string;
  description: string;
  /** Seconds until an approval is denied; for other kinds, the timeout of their runs, or null. */
  timeout: number | null;
  /** Project of a job template or of an inventory source. */
  project_id: number | null;
}

export interface SurveyHead {
  id: number;
  title: string | null;
  description: string | null;
}

/** A template with the data for webhook receivers. */
export interface ReceivingTemplate {
  id: number;
  type: string;
  name: string;
  organizationId: number | null;
  /** Webhook service; empty for none. */
  service: string;
  /** Sealed webhook key; empty for none. */
  sealedKey: string;
  credentialId: number | null;
  /** Filters as stored; `parseWebhookFilters` parses them. */
  filters: unknown;
  /** True if a push replaces an earlier one whose run is still pending. */
  coalesces: boolean;
  forks: ForkRule;
  /** True if each body launches at most one run. */
  dedupesBody: boolean;
}

/** A run with the fields that its template stores. */
export interface TemplateRun {
  id: number;
  status: string;
  unified_job_template_id: number | null;
}

/** Returns a query for the titles and descriptions (`SurveyHead`) of the surveys of templates. */
export const surveyHeads = (ids: readonly number[]): Sql => sql`
  SELECT id, survey_spec->>'name' AS title, survey_spec->>'description' AS description
  FROM unified_job_templates
  WHERE id = ANY(${ids}::int[]) AND survey_spec IS NOT NULL`;

/** Templates of every kind, which share a table and its ids. */
@Injectable()
export class TemplatesRepository extends TableRepository<Row> implements InventoryTemplates {
  constructor(@InjectRepository(UnifiedTemplate) repository: Repository<UnifiedTemplate>) {
    super(repository);
  }

  /** Returns names of templates with the caller's read permission. */
  named(ids: readonly number[], actor: Actor): Promise<(TemplateName & { may_read: boolean })[]> {
    return this.database.rows(sql`
      SELECT tpl.id, tpl.type, tpl.name, tpl.description, tpl.timeout,
        coalesce(tpl.project_id, tpl.source_project_id) AS project_id,
        (${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}) AS may_read
      FROM unified_job_templates tpl WHERE tpl.id = ANY(${ids}::int[])`);
  }

  /** Returns kinds and names of templates without a permission check; unknown ids are left out. */
  typesOf(ids: readonly number[]): Promise<Pick<TemplateName, 'id' | 'type' | 'name'>[]> {
    return this.database.rows(sql`
      SELECT id, type, name FROM unified_job_templates WHERE id = ANY(${ids}::int[])`);
  }

  /** Returns templates with the data for webhook receivers. */
  receiving(ids: readonly number[]): Promise<ReceivingTemplate[]> {
    return this.database.preparedRows<ReceivingTemplate>(sql`
      SELECT id, type, name, organization_id AS "organizationId", webhook_service AS "service",
        webhook_key AS "sealedKey", webhook_credential_id AS "credentialId",
        webhook_filters AS "filters", coalesce(webhook_coalesce, false) AS "coalesces",
        coalesce(webhook_forks, 'always') AS "forks",
        coalesce(webhook_dedupe_body, false) AS "dedupesBody"
      FROM unified_job_templates WHERE id = ANY(${ids}::int[])`);
  }

  /** @param sealed survey as stored, JSON text; null for none */
  async storeSurvey(id: number, sealed: string | null): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates SET survey_spec = ${sealed}, modified = now() WHERE id = ${id}`);
  }

  removeInventory(id: number): Promise<Row[]> {
    return this.database.rows<Row>(sql`
      WITH sources AS (
        DELETE FROM unified_job_templates WHERE inventory_id = ${id} AND type = 'inventory_source')
      UPDATE unified_job_templates SET inventory_id = NULL
      WHERE inventory_id = ${id} AND type = 'job_template'
      RETURNING id, organization_id, inventory_id`);
  }

  async moveSources(inventoryId: number, organizationId: number): Promise<void> {
    await this.update(
      { inventory_id: inventoryId, type: 'inventory_source' },
      { organization_id: organizationId },
    );
  }

  async replaceKey(id: number, sealed: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates SET webhook_key = ${sealed}, modified = now() WHERE id = ${id}`);
  }

  /**
   * Locks templates until the transaction ends, in the order of ids. Other transactions can still refer to
   * the templates.
   */
  async lock(ids: readonly number[]): Promise<void> {
    await this.database.execute(sql`
      SELECT 1 FROM unified_job_templates WHERE id = ANY(${ids}::int[]) ORDER BY id FOR NO KEY UPDATE`);
  }

  /**
   * Updates the next scheduled launch of templates.
   *
   * @param schedules query for one row per template: `template_id`, `id` of the schedule and
   *   `next_run`, both null if no launch is planned
   */
  async showNextLaunches(schedules: Sql): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates t SET next_job_run = coming.next_run, next_schedule_id = coming.id
      FROM (${schedules}) coming
      WHERE t.id = coming.template_id
        AND (t.next_job_run, t.next_schedule_id) IS DISTINCT FROM (coming.next_run, coming.id)`);
  }

  /**
   * Stores new runs as the current runs of their templates. A template that already has a current
   * run is skipped, so that launches of one template do not wait for each other's lock on its row.
   */
  async showCreated(runs: readonly TemplateRun[]): Promise<void> {
    const templates = [...new Set(runs.flatMap((run) => run.unified_job_template_id ?? []))];
    if (templates.length === 0) return;
    await this.database.preparedRows(sql`
      UPDATE unified_job_templates t SET current_job_id = run.id, status = ${STATUS_OF_RUN}
      FROM (${latestOf(runs)}) run
      WHERE t.id = run.template_id AND t.id = ANY(${templates}::int[])
        AND t.current_job_id IS NULL`);
  }

  /** Updates templates after status changes of their runs. */
  async showMoved(runs: readonly TemplateRun[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_job_templates t SET current_job_id = run.id, status = ${STATUS_OF_RUN}
      FROM (${latestOf(runs)}) run
      WHERE t.id = run.template_id`);
  }

  /**
   * Updates templates whose runs ended. A template with another current run keeps showing that run.
   */
  async showEnded(runs: readonly TemplateRun[], hasFailed: boolean): Promise<void> {
    const ids = runs.map(({ id }) => id);
    const isOver = sql`coalesce(t.current_job_id = ANY(${ids}::bigint[]), true)`;
    await this.database.execute(sql`
      UPDATE unified_job_templates t SET last_job_id = run.id, last_job_run = now(),
        last_job_failed = ${hasFailed},
        status = CASE WHEN ${isOver} THEN ${STATUS_OF_RUN} ELSE t.status END,
        current_job_id = CASE WHEN ${isOver} THEN NULL ELSE t.current_job_id END
      FROM (${latestOf(runs)}) run
      WHERE t.id = run.template_id`);
  }
}

/**
 * Status of a template `t` with its newest `run`. A project that became manual during an update keeps the status
 * of its folder.
 */
const STATUS_OF_RUN = sql`
  CASE WHEN t.type = 'project' AND t.scm_type = '' THEN t.status ELSE run.status END`;

/** Returns a query for the newest run of each template. */
function latestOf(runs: readonly TemplateRun[]): Sql {
  return sql`
    SELECT DISTINCT ON (template_id) template_id, id, status
    FROM unnest(${runs.map(({ unified_job_template_id: id }) => id)}::int[],
                ${runs.map(({ id }) => id)}::bigint[],
                ${runs.map(({ status }) => status)}::text[]) AS given(template_id, id, status)
    WHERE template_id IS NOT NULL ORDER BY template_id, id DESC`;
}

/** Returns a query for names of templates of all kinds, for joins. */
export const templateNames = (): Sql => sql`
  SELECT id, type, name, description, timeout, scm_type, inventory_id,
    coalesce(project_id, source_project_id) AS project_id
  FROM unified_job_templates`;

/** Returns a query for the webhook service of each template, for joins. */
export const receivedServices = (): Sql => sql`
  SELECT id, webhook_service AS service FROM unified_job_templates`;

/** Returns a query for the variables of templates, for joins. */
export const templateVariables = (): Sql => sql`
  SELECT id, name, extra_vars FROM unified_job_templates`;

/** Returns a query for the sources and sync settings of projects, for joins. */
export const projectSources = (): Sql => sql`
  SELECT id, type, status, organization_id, scm_type, scm_url, scm_branch, scm_refspec,
    scm_revision, scm_update_on_launch, scm_update_cache_timeout, credential_id, local_path, allow_override,
    scm_track_submodules, scm_delete_on_update, default_environment_id,
    signature_validation_credential_id, last_job_id
  FROM unified_job_templates`;

/**
 * Returns an SQL condition: runs of a job template use only the instance groups of the template.
 */
export const templateExcludesGroups = (id: Sql): Sql => sql`
  coalesce((SELECT prevent_instance_group_fallback FROM unified_job_templates WHERE id = ${id}), false)`;

/** Action that starts a template, by kind, for kinds that users launch or sync. */
const START_ACTIONS = {
  job_template: 'start',
  project: 'update',
  workflow_job_template: 'start',
  inventory_source: 'update',
} as const;

/** Returns a query for the inventory of a template. */
export const inventoryOf = (templateId: Sql): Sql => sql`
  SELECT own.inventory_id FROM unified_job_templates own WHERE own.id = ${templateId}`;

/**
 * Returns a query for templates with the caller's permissions to read and start each: `id`, `type`,
 * `scm_type`, `may_read`, `may_start`. Both permissions are true for kinds without permissions of
 * their own, such as approvals.
 */
export function templatesWithRights(ids: readonly number[], actor: Actor): Sql {
  const permissionSql = (actionOf: (start: string) => string): Sql => {
    const cases = Object.entries(START_ACTIONS).map(
      ([type, start]) =>
        sql`WHEN ${type} THEN (${permit(resource(type).policy, actionOf(start), 't', actor)})`,
    );
    return sql`CASE t.type ${join(cases, ' ')} ELSE true END`;
  };
  return sql`
    SELECT t.id, t.type, t.scm_type,
      ${permissionSql(() => 'read')} AS may_read,
      ${permissionSql((start) => start)} AS may_start
    FROM unified_job_templates t WHERE t.id = ANY(${ids}::int[])`;
}

/** Returns a query for the retention of templates, and for their organizations. */
export const retentionOfTemplates = (): Sql => sql`
  SELECT id, organization_id, retention_days, retention_runs FROM unified_job_templates`;

/**
 * Returns a query for attached notification templates: `unified_job_template_id`, `event`,
 * `notification_template_id`.
 */
export const notificationsOfTemplates = (): Sql => sql`
  SELECT unified_job_template_id, event, notification_template_id FROM template_notifications`;
