import type { FieldErrors } from '../common/errors/errors.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import { parseVariables, readAhead } from '../common/fields/variables.js';
import { zip } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { mergePrompts, type PromptedTemplate } from '../prompts/launch-config.js';
import { promptsIn, type PromptField, type Prompts } from '../prompts/launch-options.js';
import { mergeVariables, type MergedVariables } from '../prompts/launch-variables.js';
import type { LaunchCredential } from '../prompts/saved-launch-targets.js';
import type { Survey } from '../prompts/survey.js';
import type { LaunchInventory, LaunchObjects } from './launch.loader.js';
import type { LaunchRequest } from './template-launcher.js';
import type { LaunchCheck } from '../runs/launcher.js';

/** The data of a template, of any kind, that determines its launches. */
export interface LaunchableTemplate {
  row: Row;
  mayStart: boolean;
  /** Enabled survey with decrypted defaults; null without one. */
  survey: Survey | null;
  credentials: readonly LaunchCredential[];
  labels: readonly { id: number }[];
  instanceGroups: readonly { id: number }[];
}

const ownVariables = new WeakMap<Row, Readonly<Record<string, unknown>>>();

/** Parses the variables of templates once, independent of the number of their launches. */
export async function parseTemplateVariables(rows: readonly Row[]): Promise<void> {
  const texts = rows.map((row) => String(row.extra_vars ?? ''));
  const forget = await readAhead(texts);
  try {
    for (const [row, text] of zip(rows, texts)) ownVariables.set(row, parseVariables(text));
  } finally {
    forget();
  }
}

/** Returns the rules of a template about the variables of its launches. */
export const variablesOf = ({
  row,
}: Pick<LaunchableTemplate, 'row'>): Pick<
  PromptedTemplate,
  'variables' | 'allowsConnectionVars'
> => ({
  variables: () => ownVariables.get(row) ?? parseVariables(String(row.extra_vars ?? '')),
  allowsConnectionVars: row.allow_connection_vars === true,
});

/** The part of a launch plan that is the same for every kind of template. */
export interface ResolvedLaunch extends Pick<
  LaunchCheck<LaunchRequest>,
  'request' | 'isForbidden' | 'ignored'
> {
  /** Prompts that the template accepts and that differ from the template's values. */
  accepted: Prompts;
  /** Effective value of each launch field. */
  effective: Prompts;
  variables: MergedVariables;
  /** Errors about missing objects, by field. */
  unknown: FieldErrors;
}

/**
 * Uses the ref of an event as the branch if possible (docs/contract/launching.md#branches).
 *
 * @param isAllowed true if the project or workflow permits another branch
 */
export function withEventRef(
  { prompts, scmBranch }: LaunchRequest,
  template: PromptedTemplate,
  isAllowed: boolean,
): Prompts {
  const hasRef = typeof scmBranch === 'string' && scmBranch !== '';
  return hasRef && isAllowed && template.promptsFor('scm_branch')
    ? { ...prompts, scm_branch: scmBranch }
    : prompts;
}

/**
 * Separates the accepted from the ignored prompts of a launch, and checks permissions on their
 * objects.
 *
 * @param input `prompts`: prompts of the request, with the changes of this kind of launch; `fields`:
 *   fields that templates of the kind can prompt for
 */
export function resolveLaunch(
  request: LaunchRequest,
  template: LaunchableTemplate,
  { prompted, prompts: given, fields }: LaunchInput,
  objects: LaunchObjects,
): ResolvedLaunch {
  const isStored = request.launchType === 'workflow' || request.isRelaunch === true;
  const prompts = isStored ? withoutDeleted(given, objects) : given;
  const { accepted, ignored } = mergePrompts(prompted, prompts);
  const variables = mergeVariables({
    template: prompted.variables(),
    survey: template.survey,
    acceptsAny: prompted.promptsFor('extra_vars'),
    allowsConnectionVars: prompted.allowsConnectionVars,
    sent: prompts.extra_vars ?? {},
    ...(request.extraVars ? { forced: request.extraVars } : {}),
    ...(request.secretNames ? { secretNames: request.secretNames } : {}),
    isRelaunch: request.isRelaunch === true,
  });
  const hasIgnoredVariables = Object.keys(variables.ignored).length > 0;
  return {
    request,
    accepted,
    effective: { ...prompted.values, ...accepted },
    variables,
    ignored: hasIgnoredVariables ? { ...ignored, extra_vars: variables.ignored } : ignored,
    isForbidden: isForbidden(accepted, template, objects),
    unknown: unknownErrors(promptsIn(prompts, fields), accepted, objects),
  };
}

/**
 * Returns the prompts of a node or a relaunch without the labels and instance groups that were deleted since
 * an earlier launch accepted them (docs/contract/runs.md#placement).
 */
export function withoutDeleted(
  prompts: Prompts,
  objects: Pick<LaunchObjects, 'labels' | 'instanceGroups'>,
): Prompts {
  const { labels, instance_groups: groups } = prompts;
  return {
    ...prompts,
    ...(labels ? { labels: labels.filter((id) => objects.labels.has(id)) } : {}),
    ...(groups ? { instance_groups: groups.filter((id) => objects.instanceGroups.has(id)) } : {}),
  };
}

interface LaunchInput {
  prompted: PromptedTemplate;
  prompts: Prompts;
  fields: readonly PromptField[];
}

/** A user who can launch the template can use all objects of the template. */
function isForbidden(
  accepted: Prompts,
  template: LaunchableTemplate,
  objects: LaunchObjects,
): boolean {
  if (!template.mayStart) return true;
  const { inventory = 0, credentials = [], labels = [], instance_groups: groups = [] } = accepted;
  const { execution_environment: environment = 0 } = accepted;
  const own = new Set(template.credentials.map(({ id }) => id));
  const carried = new Set(template.labels.map(({ id }) => id));
  const preferred = new Set(template.instanceGroups.map(({ id }) => id));
  return (
    objects.inventories.get(inventory)?.mayUse === false ||
    objects.environments.get(environment)?.mayUse === false ||
    credentials.some((id) => !own.has(id) && objects.credentials.get(id)?.mayUse === false) ||
    labels.some((id) => !carried.has(id) && objects.labels.get(id)?.mayRead === false) ||
    groups.some((id) => !preferred.has(id) && objects.instanceGroups.get(id)?.mayUse === false)
  );
}

function unknownErrors(prompts: Prompts, accepted: Prompts, objects: LaunchObjects): FieldErrors {
  const errors: FieldErrors = {};
  const { inventory, credentials = [] } = prompts;
  if (inventory !== undefined && !objects.inventories.has(inventory)) {
    errors.inventory = [invalidPk(inventory)];
  }
  const unknown = credentials.filter((id) => !objects.credentials.has(id));
  if (unknown.length > 0) errors.credentials = unknown.map(invalidPk);
  const labels = (prompts.labels ?? []).filter((id) => !objects.labels.has(id));
  if (labels.length > 0) errors.labels = labels.map(invalidPk);
  const groups = (accepted.instance_groups ?? []).filter((id) => !objects.instanceGroups.has(id));
  if (groups.length > 0) errors.instance_groups = groups.map(invalidPk);
  const { execution_environment: environment } = accepted;
  if (environment !== undefined && !objects.environments.has(environment)) {
    errors.execution_environment = [invalidPk(environment)];
  }
  return errors;
}

/** @param label name of the kind of template */
export function deletionErrors(
  inventory: LaunchInventory | undefined,
  accepted: Prompts,
  label: string,
): FieldErrors {
  if (inventory?.isPendingDeletion !== true) return {};
  return {
    inventory: [
      accepted.inventory === undefined
        ? `The inventory associated with this ${label} is being deleted.`
        : 'The provided inventory is being deleted.',
    ],
  };
}
