import { entriesOf, recordOf } from '../common/exact-json.js';
import type { Artifacts } from '../runs/handed-artifacts.js';
import type { DueNode } from '../workflows/workflow-graphs.repository.js';
import type { LaunchRequest } from './launch-request.js';
import { artifactNamesOf, promptsOf } from '../prompts/launch-secrets.js';
import type { Prompts } from '../prompts/launch-options.js';
import { handedDown } from '../prompts/prompt-columns.js';

/** A node that is about to start, with what it takes from its workflow job and its parents. */
export interface StartingNode extends DueNode {
  /** What the runs before it handed on with `set_stats`; a later parent's value wins. */
  inherited: Artifacts;
}

/** The secret answers of one workflow job. */
export interface WorkflowSecrets {
  /** Puts them into stored prompts; the identifier is empty for those of the workflow itself. */
  fill: (identifier: string, prompts: Prompts) => Prompts;
  /** Secret names among the workflow's own variables. */
  names: readonly string[];
}

/**
 * Returns how the run of a node is launched (docs/contract/workflows.md#what-a-node-is-launched-with):
 * prompts of the workflow job over those of the node; variables of the node, then artifacts, those of
 * the nearest run last, then variables of the workflow job. A bulk launch laid its defaults under the
 * prompts of its nodes already.
 */
export function requestOf(node: StartingNode, { fill, names }: WorkflowSecrets): LaunchRequest {
  const own = fill(node.identifier, node.prompts);
  const common = {
    templateId: node.template_id,
    launchType: 'workflow',
    createdBy: node.created_by_id,
    ...eventOf(node),
    // What the launch in slices took over from its template was settled then.
    ...(node.slice ? { slice: node.slice, isRelaunch: true } : {}),
  } as const;
  if (node.is_bulk_job) return { ...common, prompts: own };
  const workflow = fill('', promptsOf(node.launch_config));
  const outer = new Set(artifactNamesOf(node.launch_config));
  const variables = entriesOf(workflow.extra_vars ?? {});
  const handed = recordOf(variables.filter(([name]) => outer.has(name)));
  const ownVariables = recordOf(variables.filter(([name]) => !outer.has(name)));
  const { open, secret } = node.inherited;
  const artifacts = { ...handed, ...open, ...secret };
  const isArtifact = (name: string): boolean => !Object.hasOwn(ownVariables, name);
  return {
    ...common,
    prompts: { ...own, ...handedDown(workflow), ...labelsOf(own, workflow) },
    extraVars: { ...artifacts, ...ownVariables },
    artifactNames: Object.keys(artifacts).filter(isArtifact),
    secretNames: [
      ...names.filter((name) => !outer.has(name) || !Object.hasOwn(open, name)),
      ...Object.keys(secret).filter(isArtifact),
    ],
  };
}

/** Labels of both, as labels of a launch come on top of the template's. */
function labelsOf(own: Prompts, workflow: Prompts): Prompts {
  const labels = [own.labels, workflow.labels].flatMap((ids) => ids ?? []);
  return labels.length > 0 ? { labels: [...new Set(labels)] } : {};
}

/** The event's variables reach the run; its status and its repetitions are the workflow job's. */
const eventOf = ({ webhook_delivery_id: deliveryId }: StartingNode): Partial<LaunchRequest> =>
  deliveryId === null ? {} : { webhook: { service: '', credentialId: null, guid: '', deliveryId } };
