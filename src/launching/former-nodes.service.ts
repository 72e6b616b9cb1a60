import { Injectable } from '@nestjs/common';
import { listsIn, type Prompts } from '../prompts/launch-options.js';
import { maskedNames } from '../prompts/launch-secrets.js';
import { storedPrompts } from '../prompts/prompt-columns.js';
import { variablesIn } from '../prompts/saved-prompts.js';
import {
  WorkflowJobNodesRepository,
  type FormerNode,
} from '../workflows/workflow-job-nodes.repository.js';
import type { NewNode } from '../workflows/workflow-rows.service.js';
import type { WorkflowSecrets } from './node-request.js';

/** Loads the nodes of an earlier workflow job for its relaunch. */
@Injectable()
export class FormerNodes {
  constructor(private readonly nodes: WorkflowJobNodesRepository) {}

  /** @param fill inserts the secret answers of the workflow job into stored prompts */
  async load(workflowJobId: number, fill: WorkflowSecrets['fill']): Promise<NewNode[]> {
    const nodes = await this.nodes.former(workflowJobId);
    return nodes.map((node) => ({
      identifier: node.identifier,
      templateId: node.unified_job_template_id,
      prompts: fill(node.identifier, promptsOfNode(node)),
      secrets: maskedNames(node.extra_data),
      parents: node.parents,
      allParentsMustConverge: node.all_parents_must_converge,
    }));
  }
}

/** Returns the prompts that the node itself set, without objects that have been deleted. */
const promptsOfNode = (node: FormerNode): Prompts => ({
  ...storedPrompts(node),
  ...listsIn(node),
  ...variablesIn(node.extra_data),
});
