import type { FieldErrors } from '../common/errors/errors.js';
import { credentialSlot, launchErrors, removalErrors } from '../credentials/types/combination.js';
import type { PromptedTemplate } from '../prompts/launch-config.js';
import { ASK_SWITCHES, PROMPT_FIELDS, type Prompts } from '../prompts/launch-options.js';
import { refErrors } from '../prompts/branch.js';
import {
  deletionErrors,
  repetitionErrors,
  resolveLaunch,
  SAVED_LAUNCH_TYPES,
  variablesOf,
  withEventRef,
  type ResolvedLaunch,
} from './launch-plan.js';
import type { LaunchObjects, LaunchTemplate } from './launch.loader.js';
import type { LaunchCredential } from '../prompts/saved-launch-targets.js';
import type { LaunchRequest } from './template-launcher.js';
import type { LaunchCheck } from '../runs/launcher.js';
import { missingRevision } from '../runs/run-explanations.js';

/** A planned launch with all data of its job row. */
export interface PlannedLaunch extends LaunchCheck<LaunchRequest>, Omit<ResolvedLaunch, 'unknown'> {
  template: LaunchTemplate;
  credentials: LaunchCredential[];
  /** Number of jobs that share the hosts; 1: a single job. */
  slices: number;
}

/** Maximum number of slices: all of them are created by the request of the launch, and start together. */
export const MAX_SLICES = 1000;

/** Plans one launch: applies the rules to loaded objects, without side effects. */
export function planLaunch(
  request: LaunchRequest,
  template: LaunchTemplate,
  objects: LaunchObjects,
  limits: { maxForks: number },
): PlannedLaunch {
  const prompted = promptedOf(template, request);
  const isBranchFree = template.project?.allowsOverride === true;
  const prompts = mergeTemplateCredentials(
    withEventRef(request, prompted, isBranchFree),
    request,
    template,
    objects,
  );
  const input = { prompted, prompts, fields: PROMPT_FIELDS };
  const { unknown, ...resolved } = resolveLaunch(request, template, input, objects);
  const { accepted, effective, variables } = resolved;
  const credentials = credentialsOf(effective, template, objects);
  const slices = slicesOf(request, effective, objects);
  const plan = { ...resolved, template, credentials, slices };
  return {
    ...plan,
    effective: withoutUnknown(effective, objects),
    accepted: withoutUnknown(accepted, objects),
    errors: {
      ...unknown,
      ...resourceErrors(plan, objects),
      ...variables.errors,
      ...repetitionErrors(slices, resolved),
      ...valueErrors(plan, limits),
      ...credentialErrors(plan),
    },
  };
}

/** Returns the number of slices. Each slice is a job and has at least one host, if the number of hosts is known. */
function slicesOf(
  { slice }: LaunchRequest,
  { inventory, job_slice_count: wanted }: Prompts,
  { inventory: inventories }: LaunchObjects,
): number {
  if (slice) return 1;
  const found = inventories.get(inventory ?? 0);
  const hosts = found ? (found.totalHosts ?? Infinity) : 0;
  return Math.max(1, Math.min(Number(wanted), hosts, MAX_SLICES));
}

/**
 * Returns the prompts that a job template accepts; a relaunch can set the prompts of its first
 * launch.
 */
export function promptedOf(
  template: LaunchTemplate,
  {
    isRelaunch = false,
    forcedFields = [],
  }: Pick<LaunchRequest, 'isRelaunch' | 'forcedFields'> = {},
): PromptedTemplate {
  const { row, stored, project, credentials, labels, instanceGroups } = template;
  return {
    ...variablesOf(template),
    promptsFor: (field) =>
      isRelaunch || forcedFields.includes(field) || row[ASK_SWITCHES[field]] === true,
    values: {
      ...stored,
      credentials: credentials.map(({ id }) => id),
      labels: labels.map(({ id }) => id),
      instance_groups: instanceGroups.map(({ id }) => id),
    },
    projectBranch: project?.branch ?? '',
  };
}

/**
 * Combines the credentials of a saved launch with those of the template. Each credential of the
 * launch replaces only a template credential of the same kind. Credentials of other launches replace
 * all those of the template.
 */
function mergeTemplateCredentials(
  prompts: Prompts,
  { launchType }: LaunchRequest,
  template: LaunchTemplate,
  objects: LaunchObjects,
): Prompts {
  const sent = prompts.credentials;
  if (!SAVED_LAUNCH_TYPES.includes(launchType) || !sent) return prompts;
  const replacedKeys = new Set(
    sent.flatMap((id) => {
      const credential = objects.credentials.get(id);
      return credential ? [credentialSlot(credential).key] : [];
    }),
  );
  const remaining = template.credentials.filter(
    (credential) => !replacedKeys.has(credentialSlot(credential).key),
  );
  return { ...prompts, credentials: [...remaining.map(({ id }) => id), ...sent] };
}

function credentialsOf(
  { credentials = [] }: Prompts,
  template: LaunchTemplate,
  objects: LaunchObjects,
): LaunchCredential[] {
  return credentials.flatMap(
    (id) =>
      objects.credentials.get(id) ??
      template.credentials.find((credential) => credential.id === id) ??
      [],
  );
}

/** Returns the prompts without missing inventories, environments and labels, which are errors. */
function withoutUnknown(prompts: Prompts, objects: LaunchObjects): Prompts {
  const { inventory, labels, execution_environment: environment, ...rest } = prompts;
  const known = labels?.filter((id) => objects.labels.has(id));
  return {
    ...rest,
    ...(inventory !== undefined && objects.inventory.has(inventory) ? { inventory } : {}),
    ...(environment !== undefined && objects.execution_environment.has(environment)
      ? { execution_environment: environment }
      : {}),
    ...(known ? { labels: known } : {}),
  };
}

type Plan = Pick<
  PlannedLaunch,
  'request' | 'template' | 'effective' | 'accepted' | 'credentials' | 'slices'
>;

function resourceErrors(
  { template, effective, accepted }: Plan,
  objects: LaunchObjects,
): FieldErrors {
  const errors: FieldErrors = {};
  const { project } = template;
  if (!project) errors.project = ['A project is required to run a job.'];
  else if (lacksRevision(template)) {
    errors.playbook = [missingRevision(project.hasInvalidSignature)];
  }
  if (effective.inventory === undefined) {
    errors.resources_needed_to_start = ['Job Template inventory is missing or undefined.'];
    return errors;
  }
  return { ...errors, ...deletionErrors({ effective, accepted }, objects, 'Job Template') };
}

/**
 * Returns true if the project has no files to run. The scheduler waits for an active sync. Without a
 * successful sync there are no files.
 */
function lacksRevision({ project }: LaunchTemplate): boolean {
  if (!project || project.scmType === '' || project.updatesOnLaunch) return false;
  if (['failed', 'error'].includes(project.status)) return true;
  return ['never updated', 'canceled'].includes(project.status) && project.revision === '';
}

function valueErrors(
  { request, template, accepted, slices }: Plan,
  { maxForks }: { maxForks: number },
): FieldErrors {
  const errors: FieldErrors = {};
  if (typeof accepted.forks === 'number' && accepted.forks > maxForks) {
    errors.forks = [`Maximum number of forks (${maxForks}) exceeded.`];
  }
  if (Number(accepted.job_slice_count) > 1 && slices === 1 && !request.slice) {
    errors.job_slice_count = ['Job inventory does not have enough hosts for slicing'];
  }
  const isChosen = (accepted.scm_branch ?? '') !== '';
  if (isChosen && template.project?.allowsOverride !== true) {
    errors.scm_branch = ['Project does not allow override of branch.'];
    return errors;
  }
  return { ...errors, ...refErrors(accepted) };
}

function credentialErrors({ request, template, accepted, credentials, slices }: Plan): FieldErrors {
  const errors: FieldErrors = {};
  if (accepted.credentials !== undefined) {
    const faults = [
      ...launchErrors(credentials),
      ...(request.isRelaunch === true ? [] : removalErrors(template.credentials, credentials)),
    ];
    if (faults.length > 0) errors.credentials = faults;
  }
  const passwords = request.credentialPasswords ?? {};
  const missing = neededPasswords(credentials).filter((name) => (passwords[name] ?? '') === '');
  if (missing.length > 0) errors.passwords_needed_to_start = missing;
  else if (slices > 1 && neededPasswords(credentials).length > 0) {
    errors.credentials = ['Credentials that ask for a password cannot be used in slices.'];
  }
  return errors;
}

/** Returns the distinct names of the passwords that a launch requires. */
export const neededPasswords = (credentials: readonly LaunchCredential[]): string[] => [
  ...new Set(credentials.flatMap((credential) => credential.passwordsNeeded)),
];
