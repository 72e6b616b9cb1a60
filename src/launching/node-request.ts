import { entriesOf, recordOf } from '../common/exact-json.js';
import type { Artifacts } from '../runs/workflow-artifacts.js';
import type { DueNode } from '../workflows/workflow-graphs.repository.js';
import type { LaunchRequest } from './template-launcher.js';
import { artifactNamesOf, maskedNames, promptsOf } from '../prompts/launch-secrets.js';
import type { Prompts } from '../prompts/launch-options.js';
import { inheritedPrompts } from '../prompts/prompt-columns.js';

/** A node that is about to start, with its inherited artifacts. */
export interface ReadyNode extends DueNode {
  /**
   * Artifacts that earlier runs passed on with `set_stats`; values of later parents take
   * precedence.
   */
  inherited: Artifacts;
}

/** The secret answers of one workflow job. */
export interface WorkflowSecrets {
  /**
   * Inserts the secret answers into stored prompts of a node, or of the workflow itself if the
   * identifier is empty.
   */
  fill: (identifier: string, prompts: Prompts) => Prompts;
  /** Names of the secret variables of the workflow itself. */
  names: readonly string[];
}

/**
 * Returns the launch request of a node (docs/contract/workflows.md#what-a-node-is-launched-with).
 * Prompts of the workflow job override those of the node. Variables are merged in this order:
 * variables of the node, artifacts (those of the nearest run last), variables of the workflow job.
 * For a bulk launch, the prompts of the nodes already contain its defaults.
 */
export function requestOf(node: ReadyNode, { fill, names }: WorkflowSecrets): LaunchRequest {
  const nodePrompts = fill(node.identifier, node.prompts);
  const common = {
    templateId: node.template_id,
    launchType: 'workflow',
    createdBy: node.created_by_id,
    ...eventOf(node),
    // Values that a sliced launch copied from its template are already validated.
    ...(node.slice ? { slice: node.slice, isRelaunch: true } : {}),
  } as const;
  // The survey that made them secret can have changed since.
  const nodeSecrets = maskedNames(node.prompts.extra_vars);
  if (node.is_bulk_job) return { ...common, prompts: nodePrompts, secretNames: nodeSecrets };
  const workflow = fill('', promptsOf(node.launch_config));
  const artifactNames = new Set(artifactNamesOf(node.launch_config));
  const variables = entriesOf(workflow.extra_vars ?? {});
  const inheritedVariables = recordOf(variables.filter(([name]) => artifactNames.has(name)));
  const workflowVariables = recordOf(variables.filter(([name]) => !artifactNames.has(name)));
  const { open, secret } = node.inherited;
  const artifacts = { ...inheritedVariables, ...open, ...secret };
  const isArtifact = (name: string): boolean => !Object.hasOwn(workflowVariables, name);
  const extraVars = { ...artifacts, ...workflowVariables };
  return {
    ...common,
    prompts: { ...nodePrompts, ...inheritedPrompts(workflow), ...labelsOf(nodePrompts, workflow) },
    extraVars,
    artifactNames: Object.keys(artifacts).filter(isArtifact),
    secretNames: [
      ...nodeSecrets.filter((name) => !Object.hasOwn(extraVars, name)),
      ...names.filter((name) => !artifactNames.has(name) || !Object.hasOwn(open, name)),
      ...Object.keys(secret).filter(isArtifact),
    ],
  };
}

/** Returns the labels of the node and of the workflow, because a launch adds labels to the template's. */
function labelsOf(own: Prompts, workflow: Prompts): Prompts {
  const labels = [own.labels, workflow.labels].flatMap((ids) => ids ?? []);
  return labels.length > 0 ? { labels: [...new Set(labels)] } : {};
}

/**
 * Returns the webhook of a node's run. The run receives the variables of the event. Status posts and
 * deduplication apply to the workflow job only.
 */
const eventOf = ({ webhook_delivery_id: deliveryId }: ReadyNode): Partial<LaunchRequest> =>
  deliveryId === null ? {} : { webhook: { service: '', credentialId: null, guid: '', deliveryId } };
