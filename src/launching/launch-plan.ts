import type { FieldErrors } from '../common/errors/errors.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import { parseVariables, readAhead } from '../common/fields/variables.js';
import { zip } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { mergePrompts, type PromptedTemplate } from '../prompts/launch-config.js';
import {
  OBJECT_FIELDS,
  objectIds,
  promptsIn,
  type PromptField,
  type Prompts,
} from '../prompts/launch-options.js';
import { mergeVariables, type MergedVariables } from '../prompts/launch-variables.js';
import type { LaunchCredential } from '../prompts/saved-launch-targets.js';
import type { Survey } from '../prompts/survey.js';
import type { LaunchObjects } from './launch.loader.js';
import type { LaunchRequest } from './template-launcher.js';
import type { LaunchCheck } from '../runs/launcher.js';
import type { LaunchType } from '../runs/unified-job.entity.js';

/** The data of a template, of any kind, that determines its launches. */
export interface LaunchableTemplate {
  row: Row;
  mayStart: boolean;
  /** Enabled survey with decrypted defaults; null without one. */
  survey: Survey | null;
  credentials: readonly LaunchCredential[];
}

/** Launch types of saved launches: nodes of workflows and schedules. */
export const SAVED_LAUNCH_TYPES: readonly LaunchType[] = ['workflow', 'scheduled'];

/** Maximum number of characters of the variables and limits of all jobs of a workflow job. */
const MAX_REPEATED = 64 * 1024 * 1024;

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
  const isStored = SAVED_LAUNCH_TYPES.includes(request.launchType) || request.isRelaunch === true;
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
    isForbidden: !template.mayStart || isForbidden(accepted, prompted.values, objects),
    // A saved launch keeps the id of a deleted inventory, also after the template has stopped prompting for one.
    unknown: unknownErrors(isStored ? accepted : promptsIn(prompts, fields), accepted, objects),
  };
}

/**
 * Returns the prompts of a saved launch or a relaunch without the labels and instance groups that were
 * deleted since an earlier launch accepted them (docs/contract/runs.md#placement).
 */
export function withoutDeleted(
  prompts: Prompts,
  objects: Pick<LaunchObjects, 'labels' | 'instance_groups'>,
): Prompts {
  const { labels, instance_groups: groups } = prompts;
  return {
    ...prompts,
    ...(labels ? { labels: labels.filter((id) => objects.labels.has(id)) } : {}),
    ...(groups ? { instance_groups: groups.filter((id) => objects.instance_groups.has(id)) } : {}),
  };
}

interface LaunchInput {
  prompted: PromptedTemplate;
  prompts: Prompts;
  fields: readonly PromptField[];
}

/**
 * Returns true if the caller cannot use an object of the prompts. A user who can launch the template can use
 * all objects of the template.
 */
const isForbidden = (accepted: Prompts, ofTemplate: Prompts, objects: LaunchObjects): boolean =>
  OBJECT_FIELDS.some((field) => {
    const own = objectIds([ofTemplate], field);
    return objectIds([accepted], field).some(
      (id) => !own.includes(id) && objects[field].get(id)?.mayUse === false,
    );
  });

function unknownErrors(prompts: Prompts, accepted: Prompts, objects: LaunchObjects): FieldErrors {
  const { instance_groups, execution_environment } = accepted;
  const checked = { ...prompts, instance_groups, execution_environment };
  const errors: FieldErrors = {};
  for (const field of OBJECT_FIELDS) {
    const unknown = [checked[field] ?? []].flat().filter((id) => !objects[field].has(id));
    if (unknown.length > 0) errors[field] = unknown.map(invalidPk);
  }
  return errors;
}

/** Returns the error of a launch whose variables and limit are too large to be stored with each of its jobs. */
export function repetitionErrors(
  jobs: number,
  {
    variables: { variables },
    effective: { limit },
  }: Pick<ResolvedLaunch, 'variables' | 'effective'>,
): FieldErrors {
  if (jobs < 2 || jobs * JSON.stringify([variables, limit]).length <= MAX_REPEATED) return {};
  const text = `Variables and limit may have at most ${MAX_REPEATED} characters for all ${jobs} jobs together.`;
  return { extra_vars: [text] };
}

/**
 * Returns the error of a launch whose inventory is being deleted, or of a workflow whose inventory was deleted.
 *
 * @param label name of the kind of template
 */
export function deletionErrors(
  { effective, accepted }: Pick<ResolvedLaunch, 'effective' | 'accepted'>,
  { inventory: inventories }: Pick<LaunchObjects, 'inventory'>,
  label: string,
): FieldErrors {
  const { inventory: id } = effective;
  if (id === undefined) return {};
  const inventory = inventories.get(id);
  const isProvided = accepted.inventory !== undefined;
  // A provided inventory that does not exist is one of the `unknownErrors`.
  if (inventory ? !inventory.isPendingDeletion : isProvided) return {};
  const subject = isProvided ? 'provided inventory' : `inventory associated with this ${label}`;
  return { inventory: [`The ${subject} ${inventory ? 'is being' : 'was'} deleted.`] };
}
