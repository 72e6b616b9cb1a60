import { Injectable } from '@nestjs/common';
import { type Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prompts } from '../prompts/launch-options.js';
import { openSaved } from '../prompts/saved-prompts.js';
import { openSurvey } from '../prompts/survey-secrets.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';
import {
  WorkflowTemplateNodesRepository,
  type SavedNodeRow,
} from '../workflow-templates/workflow-template-nodes.repository.js';
import type { WorkflowTemplate } from '../workflow-templates/workflow-template.entity.js';
import { WorkflowTemplatesRepository } from '../workflow-templates/workflow-templates.repository.js';
import { readOwnVariables, type LaunchableTemplate } from './launch-plan.js';

/** A workflow job template with all data that determines its launches, except its nodes. */
export interface LoadedWorkflow extends LaunchableTemplate {
  row: RowOf<WorkflowTemplate>;
  labels: { id: number; name: string }[];
}

/** A node with the data for a launch. */
export interface SavedNode {
  id: number;
  workflowTemplateId: number;
  templateId: number | null;
  identifier: string;
  allParentsMustConverge: boolean;
  /** Launch fields that the node sets, with credentials, labels, groups and decrypted answers. */
  prompts: Prompts;
  /** Names of secret variables. */
  secrets: string[];
  parents: { identifier: string; kind: EdgeKind }[];
}

/** Loads workflow job templates, in a constant number of statements. */
@Injectable()
export class WorkflowLaunchLoader {
  constructor(
    private readonly workflows: WorkflowTemplatesRepository,
    private readonly savedNodes: WorkflowTemplateNodesRepository,
    private readonly box: SecretBox,
  ) {}

  /** @param actor caller; null: no permission check (webhooks) */
  async templates(
    ids: readonly number[],
    actor: Actor | null,
  ): Promise<Map<number, LoadedWorkflow>> {
    if (ids.length === 0) return new Map();
    const rows = await this.workflows.launchable(ids, actor);
    const templates = new Map(
      rows.map((row) => [
        row.id,
        {
          row,
          mayStart: row.may_start,
          survey: row.survey_enabled ? openSurvey(this.box, row.id, row.survey_spec) : null,
          labels: row.carried,
          // Only the jobs of its nodes have these.
          credentials: [],
          instanceGroups: [],
        },
      ]),
    );
    await readOwnVariables([...templates.values()].map(({ row }) => row));
    return templates;
  }

  /**
   * Returns the nodes of workflow job templates with their edges.
   *
   * @throws UnsealError if a secret answer cannot be opened with the installation's keys
   */
  async nodes(workflowIds: readonly number[]): Promise<SavedNode[]> {
    const rows = await this.savedNodes.saved(workflowIds);
    return rows.map((row) => this.nodeOf(row));
  }

  private nodeOf(row: SavedNodeRow): SavedNode {
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
