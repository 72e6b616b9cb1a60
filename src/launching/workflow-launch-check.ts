import { invalidPk } from '../common/fields/validate.js';
import { parseVariables } from '../common/fields/variables.js';
import type { FieldErrors } from '../common/errors/errors.js';
import type { LaunchObjects } from './launch-loader.js';
import type { LaunchCheck, LaunchRequest } from './launch-request.js';
import { refErrors } from '../prompts/branch.js';
import { mergePrompts, type PromptedTemplate } from '../prompts/launch-config.js';
import { ASK_SWITCHES, WORKFLOW_PROMPTS, type Prompts } from '../prompts/launch-options.js';
import { HANDED_PROMPTS, handedDown, storedPrompts } from '../prompts/prompt-columns.js';
import { mergeVariables, type MergedVariables } from '../prompts/launch-variables.js';
import type { WorkflowTemplate } from './workflow-launch-loader.js';

/** A launch with everything its workflow job is made of, except the nodes. */
export interface PlannedWorkflow extends LaunchCheck {
  template: WorkflowTemplate;
  /** What the nodes are handed, labels among it when the launch named some. */
  handedOn: Prompts;
  /** Labels of the workflow job. */
  labels: number[];
  variables: MergedVariables;
}

/** What a launch may set of a workflow job template. */
export function workflowPrompted({ row, labels }: WorkflowTemplate): PromptedTemplate {
  return {
    asks: (field) => WORKFLOW_PROMPTS.includes(field) && row[ASK_SWITCHES[field]] === true,
    own: {
      ...storedPrompts(row, HANDED_PROMPTS),
      labels: labels.map(({ id }) => id),
    },
    projectBranch: '',
  };
}

/** Works out one launch: its rules over loaded objects, without any side effect. */
export function planWorkflow(
  request: LaunchRequest,
  template: WorkflowTemplate,
  objects: Pick<LaunchObjects, 'inventories' | 'labels'>,
): PlannedWorkflow {
  const prompted = workflowPrompted(template);
  const prompts = withEventRef(request, prompted);
  const { accepted, ignored } = mergePrompts(prompted, prompts);
  const variables = mergeVariables({
    template: parseVariables(String(template.row.extra_vars ?? '')),
    survey: template.survey,
    asks: prompted.asks('extra_vars'),
    sent: prompts.extra_vars ?? {},
    ...(request.extraVars ? { forced: request.extraVars } : {}),
    ...(request.secretNames ? { secretNames: request.secretNames } : {}),
    isRelaunch: request.isRelaunch === true,
  });
  const labels = (accepted.labels ?? []).filter((id) => objects.labels.has(id));
  const hasIgnoredVariables = Object.keys(variables.ignored).length > 0;
  return {
    request,
    template,
    handedOn: {
      ...handedOn({ ...prompted.own, ...accepted }, objects),
      ...(labels.length > 0 ? { labels } : {}),
    },
    labels: [...new Set([...template.labels.map(({ id }) => id), ...labels])],
    variables,
    ignored: hasIgnoredVariables ? { ...ignored, extra_vars: variables.ignored } : ignored,
    forbidden: forbiddenOf(accepted, template, objects),
    errors: {
      ...referenceErrors(prompts, accepted, template, objects),
      ...variables.errors,
      ...refErrors(accepted),
    },
  };
}

/** The ref of an event is used where the template asks for a branch. */
function withEventRef({ prompts, scmBranch }: LaunchRequest, template: PromptedTemplate): Prompts {
  const isWanted = typeof scmBranch === 'string' && scmBranch !== '';
  return isWanted && template.asks('scm_branch') ? { ...prompts, scm_branch: scmBranch } : prompts;
}

/** Values that are set, and of references those that exist. */
function handedOn(
  effective: Prompts,
  { inventories }: Pick<LaunchObjects, 'inventories'>,
): Prompts {
  const { inventory, ...rest } = handedDown(effective);
  return inventory !== undefined && inventories.has(inventory) ? { inventory, ...rest } : rest;
}

/** What the template itself uses may be used by whoever may launch it. */
function forbiddenOf(
  accepted: Prompts,
  template: WorkflowTemplate,
  objects: Pick<LaunchObjects, 'inventories' | 'labels'>,
): LaunchCheck['forbidden'] {
  if (!template.mayStart) return 'template';
  const inventory = objects.inventories.get(accepted.inventory ?? 0);
  const carried = new Set(template.labels.map(({ id }) => id));
  const hidden = (accepted.labels ?? []).some(
    (id) => !carried.has(id) && objects.labels.get(id)?.mayRead === false,
  );
  return inventory?.mayUse === false || hidden ? 'prompts' : null;
}

function referenceErrors(
  prompts: Prompts,
  accepted: Prompts,
  { row }: WorkflowTemplate,
  objects: Pick<LaunchObjects, 'inventories' | 'labels'>,
): FieldErrors {
  const errors: FieldErrors = {};
  const sent = prompts.inventory;
  if (sent !== undefined && !objects.inventories.has(sent)) errors.inventory = [invalidPk(sent)];
  const used = objects.inventories.get((accepted.inventory ?? row.inventory_id) as number);
  if (used?.isPendingDeletion === true) {
    errors.inventory = [
      accepted.inventory === undefined
        ? 'The inventory associated with this Workflow Job Template is being deleted.'
        : 'The provided inventory is being deleted.',
    ];
  }
  const labels = (prompts.labels ?? []).filter((id) => !objects.labels.has(id));
  if (labels.length > 0) errors.labels = labels.map(invalidPk);
  return errors;
}
