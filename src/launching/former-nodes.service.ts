import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { listsIn, type Prompts } from '../prompts/launch-options.js';
import { maskedNames, promptsOf } from '../prompts/launch-secrets.js';
import { storedPrompts } from '../prompts/prompt-columns.js';
import { variablesIn } from '../prompts/saved-prompts.js';
import {
  WorkflowJobNodesRepository,
  type FormerNode,
} from '../workflows/workflow-job-nodes.repository.js';
import type { WorkflowJob } from '../workflows/workflow-job.entity.js';
import type { NewNode } from '../workflows/workflow-rows.service.js';
import type { WorkflowSecrets } from './node-request.js';

/** Loads the nodes of an earlier workflow job for its relaunch. */
@Injectable()
export class FormerNodes {
  constructor(private readonly nodes: WorkflowJobNodesRepository) {}

  /** @param fill inserts the secret answers of the workflow job into stored prompts */
  async load(
    { id, launch_config: config }: RowOf<WorkflowJob>,
    fill: WorkflowSecrets['fill'],
  ): Promise<NewNode[]> {
    const nodes = await this.nodes.former(id);
    return nodes.map((node) => ({
      identifier: node.identifier,
      templateId: node.unified_job_template_id,
      prompts: fill(node.identifier, promptsOfNode(node, promptsOf(config))),
      secrets: maskedNames(node.extra_data),
      parents: node.parents,
      allParentsMustConverge: node.all_parents_must_converge,
    }));
  }
}

/**
 * Returns the prompts that the node itself set, without objects that have been deleted, except its inventory:
 * without it, the run would use other hosts.
 *
 * @param defaults prompts of the workflow job, which the prompts of a bulk launch's nodes contain
 */
function promptsOfNode(node: FormerNode, defaults: Prompts): Prompts {
  const { inventory } = node.prompts;
  return {
    ...(inventory === undefined || inventory === defaults.inventory ? {} : { inventory }),
    ...storedPrompts(node),
    ...listsIn(node),
    ...variablesIn(node.extra_data),
  };
}
