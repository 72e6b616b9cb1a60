import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql, TRUE } from '../database/sql.js';
import type { Prompts } from '../prompts/launch-options.js';
import { openSaved, type SavedLaunch } from '../prompts/saved-prompts.js';
import { openSurvey } from '../prompts/survey-secrets.js';
import type { EdgeKind } from '../workflow-templates/node-edges.js';
import { readOwnVariables, type LaunchableTemplate } from './launch-plan.js';
import { workflowTemplates } from '../workflow-templates/workflow-templates.resource.js';

/** A workflow job template with all that decides about a launch of it, except its nodes. */
export interface WorkflowTemplate extends LaunchableTemplate {
  /** Labels it carries. */
  labels: { id: number; name: string }[];
}

/** A node as a launch takes it along. */
export interface SavedNode {
  id: number;
  workflowTemplateId: number;
  templateId: number | null;
  identifier: string;
  allParentsMustConverge: boolean;
  /** Launch fields that the node sets, with credentials, labels and groups, and answers in clear. */
  prompts: Prompts;
  /** Names of variables whose values are secret. */
  secrets: string[];
  parents: { identifier: string; kind: EdgeKind }[];
}

interface NodeRow extends SavedLaunch {
  workflow_job_template_id: number;
  unified_job_template_id: number | null;
  identifier: string;
  all_parents_must_converge: boolean;
  parents: { identifier: string; kind: EdgeKind }[];
}

/** Loads workflow job templates, in a constant number of statements however many there are. */
@Injectable()
export class WorkflowLaunchLoader {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /** @param actor null: everything may be launched (webhooks) */
  async templates(
    ids: readonly number[],
    actor: Actor | null,
  ): Promise<Map<number, WorkflowTemplate>> {
    if (ids.length === 0) return new Map();
    const mayStart = actor ? permit(workflowTemplates.policy, 'start', 't', actor) : TRUE;
    const rows = await this.database.rows<Row>(sql`
      SELECT t.*, (${mayStart}) AS may_start,
        coalesce((SELECT json_agg(json_build_object('id', lab.id, 'name', lab.name) ORDER BY lab.id)
          FROM workflow_job_template_labels lnk JOIN labels lab ON lab.id = lnk.label_id
          WHERE lnk.workflow_job_template_id = t.id), '[]') AS carried
      FROM unified_job_templates t
      WHERE t.id = ANY(${[...ids]}::int[]) AND ${workflowTemplates.own('t')}`);
    const templates = new Map(
      rows.map(({ may_start, carried, ...row }) => [
        row.id as number,
        {
          row: row as Row,
          mayStart: may_start === true,
          survey:
            row.survey_enabled === true
              ? openSurvey(this.box, row.id as number, row.survey_spec)
              : null,
          labels: carried as WorkflowTemplate['labels'],
          // The jobs of its nodes have them.
          credentials: [],
          instanceGroups: [],
        },
      ]),
    );
    await readOwnVariables([...templates.values()].map(({ row }) => row));
    return templates;
  }

  /**
   * Nodes of workflow job templates with their edges.
   *
   * @throws UnsealError when a secret answer cannot be opened with the installation's keys
   */
  async nodes(workflowIds: readonly number[]): Promise<SavedNode[]> {
    const rows = await this.database.rows<NodeRow>(sql`
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
      WHERE node.workflow_job_template_id = ANY(${[...workflowIds]}::int[]) ORDER BY node.id`);
    return rows.map((row) => this.nodeOf(row));
  }

  private nodeOf(row: NodeRow): SavedNode {
    return {
      id: row.id,
      workflowTemplateId: row.workflow_job_template_id,
      templateId: row.unified_job_template_id,
      identifier: row.identifier,
      allParentsMustConverge: row.all_parents_must_converge,
      prompts: openSaved(this.box, 'workflow_job_template_nodes', row),
      secrets: Object.keys(row.survey_passwords),
      parents: row.parents,
    };
  }
}
