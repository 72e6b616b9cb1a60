import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { allCredentials } from '../credentials/credentials.repository.js';
import { ident, join, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allEnvironments } from '../execution-environments/execution-environments.repository.js';
import { usableGroups } from '../instances/instance-groups.repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { STORED_PROMPTS } from '../prompts/prompt-columns.js';
import type { SavedLaunch } from '../prompts/saved-prompts.js';
import type { SealedAnswers } from '../prompts/saved-secrets.js';
import { templateNames } from '../templates/templates.repository.js';
import type { Edge, EdgeKind } from '../workflows/workflow-rows.service.js';
import { copiedReference, type CopiedReference } from './workflow-job-templates.repository.js';
import { WorkflowJobTemplateNode } from './workflow-job-template-node.entity.js';

/** A node with its saved prompts and the edges to it. */
export interface SavedNodeRow extends SavedLaunch {
  workflow_job_template_id: number;
  unified_job_template_id: number | null;
  identifier: string;
  all_parents_must_converge: boolean;
  parents: { identifier: string; kind: EdgeKind }[];
}

/** A node on the page of its workflow. The name of the template is null without read permission. */
export interface TemplateNodeOnPage {
  id: number;
  identifier: string;
  type: string | null;
  name: string | null;
}

/** The children of a node, by kind of edge. */
export interface ChildNodes {
  id: number;
  kind: EdgeKind;
  ids: number[];
}

/** A node to copy, with all objects that it refers to. */
export interface CopiedNode extends Row {
  unified_job_template_id: number | null;
  identifier: string;
  all_parents_must_converge: boolean;
  extra_data: Record<string, unknown>;
  survey_passwords: SealedAnswers;
  template_type: string | null;
  template: CopiedReference | null;
  inventory: CopiedReference | null;
  environment: CopiedReference | null;
  credentials: CopiedReference[];
}

@Injectable()
export class WorkflowJobTemplateNodesRepository extends TableRepository<Row> {
  constructor(
    @InjectRepository(WorkflowJobTemplateNode) repository: Repository<WorkflowJobTemplateNode>,
  ) {
    super(repository);
  }

  /** Returns the nodes of workflows for launches. */
  saved(workflowIds: readonly number[]): Promise<SavedNodeRow[]> {
    return this.database.rows<SavedNodeRow>(sql`
      SELECT node.*,
        ARRAY(SELECT credential_id FROM workflow_template_node_credentials
          WHERE node_id = node.id ORDER BY id) AS credentials,
        ARRAY(SELECT label_id FROM workflow_template_node_labels
          WHERE node_id = node.id ORDER BY id) AS labels,
        ARRAY(SELECT instance_group_id FROM workflow_template_node_instance_groups
          WHERE node_id = node.id ORDER BY id) AS instance_groups,
        coalesce((SELECT json_agg(
            json_build_object('identifier', parent.identifier, 'kind', edge.kind) ORDER BY parent.id)
          FROM workflow_job_template_node_edges edge
          JOIN workflow_job_template_nodes parent ON parent.id = edge.parent_id
          WHERE edge.child_id = node.id), '[]') AS parents
      FROM workflow_job_template_nodes node
      WHERE node.workflow_job_template_id = ANY(${workflowIds}::int[]) ORDER BY node.id`);
  }

  onPage(workflowId: number, actor: Actor): Promise<TemplateNodeOnPage[]> {
    const { policy } = resource('unified_job_template');
    return this.database.rows<TemplateNodeOnPage>(sql`
      SELECT node.id, node.identifier, tpl.type,
        CASE WHEN ${permit(policy, 'read', 'tpl', actor)} THEN tpl.name END AS name
      FROM workflow_job_template_nodes node
      LEFT JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      WHERE node.workflow_job_template_id = ${workflowId} ORDER BY node.id`);
  }

  edges(workflowId: number): Promise<Edge[]> {
    return this.database.rows<Edge>(sql`
      SELECT edge.parent_id AS "from", edge.child_id AS "to", edge.kind
      FROM workflow_job_template_node_edges edge
      JOIN workflow_job_template_nodes node ON node.id = edge.child_id
      WHERE node.workflow_job_template_id = ${workflowId} ORDER BY edge.parent_id, edge.child_id`);
  }

  children(ids: readonly number[]): Promise<ChildNodes[]> {
    return this.database.rows<ChildNodes>(sql`
      SELECT parent_id AS id, kind, array_agg(child_id ORDER BY child_id) AS ids
      FROM workflow_job_template_node_edges
      WHERE parent_id = ANY(${ids}::int[]) GROUP BY parent_id, kind`);
  }

  /** Returns the kind of the edge between two nodes, and true if the edge would create a cycle. */
  async edgeBetween(
    parent: number,
    child: number,
  ): Promise<{ closes_cycle: boolean; kind: EdgeKind | null }> {
    return this.database.rowOrFail(sql`
      WITH RECURSIVE below (id) AS (
        SELECT ${child}::int
        UNION
        SELECT edge.child_id FROM below
        JOIN workflow_job_template_node_edges edge ON edge.parent_id = below.id
      )
      SELECT EXISTS (SELECT 1 FROM below WHERE id = ${parent}) AS closes_cycle, (
        SELECT kind FROM workflow_job_template_node_edges
        WHERE parent_id = ${parent} AND child_id = ${child}) AS kind`);
  }

  workflowsOf(
    approvalTemplates: readonly number[],
  ): Promise<{ id: number; workflow_id: number }[]> {
    return this.database.rows(sql`
      SELECT unified_job_template_id AS id, workflow_job_template_id AS workflow_id
      FROM workflow_job_template_nodes
      WHERE unified_job_template_id = ANY(${approvalTemplates}::int[])`);
  }

  /** Returns the length of the variables and limits of a workflow's nodes, except one. */
  async lengthOfOthers(workflowId: number, nodeId: number): Promise<number> {
    const { length } = await this.database.rowOrFail<{ length: number }>(sql`
      SELECT coalesce(sum(octet_length(concat(extra_data, survey_passwords, "limit"))), 0)::float8
        AS length
      FROM workflow_job_template_nodes
      WHERE workflow_job_template_id = ${workflowId} AND id <> ${nodeId}`);
    return length;
  }

  /** Assigns an approval template to a node and clears the node's launch fields. */
  async assignApproval(id: number, templateId: number): Promise<void> {
    const cleared = STORED_PROMPTS.map(([, column]) => sql`${ident(column)} = NULL`);
    await this.database.execute(sql`
      UPDATE workflow_job_template_nodes
      SET unified_job_template_id = ${templateId}, extra_data = '{}', survey_passwords = '{}',
        modified = now(), ${join(cleared)}
      WHERE id = ${id}`);
  }

  /** Returns the nodes of a workflow with the caller's permissions on the objects they refer to. */
  toCopy(workflowId: number, actor: Actor): Promise<CopiedNode[]> {
    return this.database.rows<CopiedNode>(sql`
      SELECT node.*, tpl.type AS template_type,
        ${copiedReference('tpl', 'unified_job_template', 'launch', actor)} AS template,
        ${copiedReference('inv', 'inventory', 'use', actor)} AS inventory,
        ${copiedReference('env', 'execution_environment', 'read', actor)} AS environment,
        coalesce((
          SELECT json_agg(${copiedReference('cred', 'credential', 'use', actor)} ORDER BY lnk.id)
          FROM workflow_template_node_credentials lnk
          JOIN (${allCredentials()}) cred ON cred.id = lnk.credential_id
          WHERE lnk.node_id = node.id), '[]') AS credentials
      FROM workflow_job_template_nodes node
      LEFT JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      LEFT JOIN (${allInventories()}) inv ON inv.id = node.inventory_id
      LEFT JOIN (${allEnvironments()}) env ON env.id = node.execution_environment_id
      WHERE node.workflow_job_template_id = ${workflowId} ORDER BY node.id`);
  }

  /**
   * Attaches credentials to nodes, in the given order.
   *
   * @param links pairs of node and credential
   */
  async attachCredentials(links: readonly (readonly [number, number])[]): Promise<void> {
    const rows = links.map(([node, credential]) => ({ node_id: node, credential_id: credential }));
    await this.insertMany(rows, 'workflow_template_node_credentials');
  }

  /**
   * Copies edges, labels and usable instance groups from original nodes to their copies.
   *
   * @param ids ids of the copies, in the order of the originals
   */
  async copyLinks(
    originals: readonly number[],
    ids: readonly number[],
    actor: Actor,
  ): Promise<void> {
    const pairs = sql`unnest(${originals}::int[], ${ids}::int[])`;
    await this.database.execute(sql`
      WITH pair (former_id, id) AS (SELECT * FROM ${pairs})
      INSERT INTO workflow_job_template_node_edges (parent_id, child_id, kind)
      SELECT parent.id, child.id, edge.kind FROM workflow_job_template_node_edges edge
      JOIN pair parent ON parent.former_id = edge.parent_id
      JOIN pair child ON child.former_id = edge.child_id`);
    const copied = sql`${pairs} AS pair (former_id, id)
      JOIN workflow_job_template_nodes node ON node.id = pair.id
        AND node.unified_job_template_id IS NOT NULL`;
    await this.database.execute(sql`
      INSERT INTO workflow_template_node_labels (node_id, label_id)
      SELECT pair.id, lnk.label_id FROM ${copied}
      JOIN workflow_template_node_labels lnk ON lnk.node_id = pair.former_id ORDER BY lnk.id`);
    await this.database.execute(sql`
      INSERT INTO workflow_template_node_instance_groups (node_id, instance_group_id)
      SELECT pair.id, lnk.instance_group_id FROM ${copied}
      JOIN workflow_template_node_instance_groups lnk ON lnk.node_id = pair.former_id
      WHERE lnk.instance_group_id IN (${usableGroups(actor)})
      ORDER BY lnk.id`);
  }
}

/**
 * Returns a query for the templates that the nodes of some workflows use.
 *
 * @param workflows query for the ids of the workflows
 */
export const templatesRunBy = (workflows: Sql): Sql => sql`
  SELECT nod.unified_job_template_id FROM workflow_job_template_nodes nod
  WHERE nod.workflow_job_template_id IN (${workflows})`;

/** Returns the SQL condition that a credential is attached to a node of a workflow job template. */
export const isCredentialOfNode = (template: Sql, credential: string): Sql => sql`
  ${ident(credential, 'id')} IN (
    SELECT lnk.credential_id FROM workflow_template_node_credentials lnk
    JOIN workflow_job_template_nodes node ON node.id = lnk.node_id
    WHERE node.workflow_job_template_id = ${template})`;
