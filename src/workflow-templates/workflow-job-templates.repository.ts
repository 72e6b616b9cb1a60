import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { allCredentials } from '../credentials/credentials.repository.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { allLabels } from '../labels/labels.repository.js';
import type { WorkflowJobTemplate } from './workflow-job-template.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** Key of the advisory lock on nesting workflows, unique in this database. */
const NESTING_LOCK = 7_302;

/** An object that a copy would refer to, with the caller's permissions. */
export interface CopiedReference {
  id: number;
  name: string;
  may_read: boolean;
  may_use: boolean;
}

/** Objects of a workflow job template that a copy would refer to, besides those of its nodes. */
type CopiedReferences = Record<'inventory' | 'credential', CopiedReference | null>;

/** A workflow job template for a launch, with its labels. */
export interface LaunchableWorkflow extends RowOf<WorkflowJobTemplate> {
  may_start: boolean;
  node_count: number;
  /** Number of bytes of the variables and limits of the nodes. */
  node_size: number;
  linked_labels: { id: number; name: string }[];
}

/** Workflow job templates, and the approval templates of their nodes. */
@Injectable()
export class WorkflowJobTemplatesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedTemplate) repository: Repository<UnifiedTemplate>) {
    super(repository);
  }

  /** @param actor caller; null: no permission check */
  launchable(ids: readonly number[], actor: Actor | null): Promise<LaunchableWorkflow[]> {
    const { partCondition } = resource('workflow_job_template');
    return this.database.rows<LaunchableWorkflow>(sql`
      SELECT t.*, (${permitOrAny('workflow_job_template', 'start', 't', actor)}) AS may_start,
        coalesce((SELECT json_agg(json_build_object('id', lab.id, 'name', lab.name) ORDER BY lab.id)
          FROM workflow_job_template_labels lnk JOIN (${allLabels()}) lab ON lab.id = lnk.label_id
          WHERE lnk.workflow_job_template_id = t.id), '[]') AS linked_labels,
        nodes.node_count, nodes.node_size
      FROM unified_job_templates t
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS node_count,
          coalesce(sum(octet_length(concat(extra_data, survey_passwords, "limit"))), 0)::float8
            AS node_size
        FROM workflow_job_template_nodes WHERE workflow_job_template_id = t.id) nodes
      WHERE t.id = ANY(${ids}::int[]) AND ${partCondition('t')}`);
  }

  /** Returns the objects that a workflow itself refers to, for its copy. */
  references(id: number, actor: Actor): Promise<CopiedReferences | undefined> {
    return this.database.row<CopiedReferences>(sql`
      SELECT ${copiedReference('inv', 'inventory', 'use', actor)} AS inventory,
        ${copiedReference('cred', 'credential', 'use', actor)} AS credential
      FROM unified_job_templates tpl
      LEFT JOIN (${allInventories()}) inv ON inv.id = tpl.inventory_id
      LEFT JOIN (${allCredentials()}) cred ON cred.id = tpl.webhook_credential_id
      WHERE tpl.id = ${id}`);
  }

  async copyLabels(original: number, copy: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO workflow_job_template_labels (workflow_job_template_id, label_id)
      SELECT ${copy}, label_id FROM workflow_job_template_labels
      WHERE workflow_job_template_id = ${original}`);
  }

  /**
   * Copies approval templates.
   *
   * @param ids ids of the copies, in the order of the originals
   */
  async copyApprovals(
    originals: readonly number[],
    ids: readonly number[],
    author: number,
  ): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO unified_job_templates (id, type, name, description, timeout, created_by_id,
        modified_by_id)
      SELECT given.id, 'workflow_approval_template', tpl.name, tpl.description, tpl.timeout,
        ${author}::int, ${author}::int
      FROM unnest(${ids}::int[], ${originals}::int[]) AS given (id, former_id)
      JOIN unified_job_templates tpl ON tpl.id = given.former_id`);
  }

  /** Locks an approval template against new approvals until the transaction ends. */
  async lockApproval(id: number): Promise<void> {
    await this.database.execute(sql`
      SELECT 1 FROM unified_job_templates
      WHERE id = ${id} AND type = 'workflow_approval_template' FOR UPDATE`);
  }

  /** Deletes a template if it is an approval template. */
  async removeApproval(id: number): Promise<void> {
    await this.delete({ id, type: 'workflow_approval_template' });
  }

  /** Deletes the approval templates of a workflow's nodes. */
  async removeApprovalsOf(workflowId: number): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM unified_job_templates tpl USING workflow_job_template_nodes node
      WHERE node.workflow_job_template_id = ${workflowId}
        AND node.unified_job_template_id = tpl.id AND tpl.type = 'workflow_approval_template'`);
  }

  /**
   * Returns true if a workflow would contain itself, at any depth, with a node that launches `innerId`.
   * Locks nesting until the end of the transaction, so that two concurrent requests cannot create a
   * cycle together.
   */
  async wouldContain(outerId: number, innerId: number): Promise<boolean> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${NESTING_LOCK})`);
    return this.database.exists(sql`
      WITH RECURSIVE inside (id) AS (
        SELECT ${innerId}::int
        UNION
        SELECT tpl.id FROM inside
        JOIN workflow_job_template_nodes node ON node.workflow_job_template_id = inside.id
        JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
          AND tpl.type = 'workflow_job_template'
      )
      SELECT 1 FROM inside WHERE id = ${outerId}`);
  }
}

/**
 * Returns a `CopiedReference` as an SQL value; null if the joined row is missing.
 *
 * @param type resource type of the rows of `alias`
 */
export function copiedReference(alias: string, type: string, action: string, actor: Actor): Sql {
  const { policy } = resource(type);
  return sql`CASE WHEN ${ident(alias, 'id')} IS NOT NULL THEN
    json_build_object('id', ${ident(alias, 'id')}, 'name', ${ident(alias, 'name')},
      'may_read', (${permit(policy, 'read', alias, actor)}),
      'may_use', (${permit(policy, action, alias, actor)})) END`;
}
