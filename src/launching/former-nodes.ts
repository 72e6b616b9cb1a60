import { Injectable } from '@nestjs/common';
import { ENCRYPTED } from '../common/fields/validate.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { listsIn, type Prompts } from '../prompts/launch-options.js';
import { storedPrompts } from '../prompts/prompt-columns.js';
import { variablesIn } from '../prompts/saved-prompts.js';
import type { EdgeKind, NewNode } from '../workflows/workflow-rows.js';
import type { WorkflowSecrets } from './node-request.js';

interface FormerNode extends Row {
  unified_job_template_id: number | null;
  identifier: string;
  extra_data: Record<string, unknown>;
  all_parents_must_converge: boolean;
  parents: { identifier: string; kind: EdgeKind }[];
  credentials: number[];
  labels: number[];
  instance_groups: number[];
}

/** The nodes of a workflow job as they were, for another one like it. */
@Injectable()
export class FormerNodes {
  constructor(private readonly database: Database) {}

  /** @param fill puts the secret answers of the workflow job into stored prompts */
  async load(workflowJobId: number, fill: WorkflowSecrets['fill']): Promise<NewNode[]> {
    const nodes = await this.database.rows<FormerNode>(sql`
      SELECT n.*,
        ARRAY(SELECT credential_id FROM workflow_job_node_credentials
          WHERE workflow_job_node_id = n.id ORDER BY id) AS credentials,
        ARRAY(SELECT label_id FROM workflow_job_node_labels
          WHERE workflow_job_node_id = n.id ORDER BY id) AS labels,
        ARRAY(SELECT instance_group_id FROM workflow_job_node_instance_groups
          WHERE workflow_job_node_id = n.id ORDER BY id) AS instance_groups,
        (SELECT coalesce(json_agg(json_build_object(
            'identifier', parent.identifier, 'kind', edge.kind) ORDER BY parent.id), '[]')
          FROM workflow_job_node_edges edge
          JOIN workflow_job_nodes parent ON parent.id = edge.parent_id
          WHERE edge.child_id = n.id) AS parents
      FROM workflow_job_nodes n WHERE n.workflow_job_id = ${workflowJobId} ORDER BY n.id`);
    return nodes.map((node) => ({
      identifier: node.identifier,
      templateId: node.unified_job_template_id,
      own: fill(node.identifier, promptsOf(node)),
      secrets: secretNames(node.extra_data),
      parents: node.parents,
      allParentsMustConverge: node.all_parents_must_converge,
    }));
  }
}

/** What the node set itself; objects deleted meanwhile are gone from it. */
const promptsOf = (node: FormerNode): Prompts => ({
  ...storedPrompts(node),
  ...listsIn(node),
  ...variablesIn(node.extra_data),
});

/** Names of variables that are stored masked. */
export const secretNames = (variables: object | null | undefined): string[] =>
  Object.entries(variables ?? {}).flatMap(([name, value]) => (value === ENCRYPTED ? [name] : []));
