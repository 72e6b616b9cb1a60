import { isDeepStrictEqual } from 'node:util';
import { webhookVariables } from '../../code-hosts/variables.js';
import type { VariablesReader } from '../../common/fields/variables.js';
import type { JobContext } from '../../runs/job-contexts.repository.js';

type Variables = Readonly<Record<string, unknown>>;

/**
 * The sources of a playbook's extra variables, lowest precedence first
 * (docs/contract/launching.md#variables).
 */
export interface JobVariableSources {
  /** Variables of the job: those of its template, merged with those of the launch. */
  job: Variables;
  /** Variables of the webhook event, for a job that a webhook launched. */
  webhook: Variables;
  /** Variables that the credentials inject. */
  credentials: Variables;
  /** Variables that describe the run; they override all others. */
  meta: Variables;
}

/** The variables of a run, with the keys whose values must not be evaluated as templates. */
export interface RunVariables {
  extraVars: Record<string, unknown>;
  unsafeKeys: string[];
}

/** Facts about a run. A fact that is null, or an empty revision or branch, gives no variable. */
export interface VariableFacts {
  jobId: number;
  launchType: string;
  template: { id: number; name: string } | null;
  inventory: { id: number; name: string } | null;
  schedule: { id: number; name: string } | null;
  user: {
    id: number;
    username: string;
    email: string;
    first_name: string;
    last_name: string;
  } | null;
  projectRevision: string;
  projectBranch: string;
  jobBranch: string;
  executionNode: string;
}

/** Data for the variables of a job, in addition to the job itself. */
interface VariableParts {
  answers: Variables;
  /** Reads the variables of the job and those of its template. */
  read: VariablesReader;
  /** Variables that the credentials inject. */
  credentials: Variables;
  projectRevision: string;
  projectBranch: string;
  executionNode: string;
  prefixes: readonly string[];
}

/** Returns the variables of a job's playbook (docs/contract/runs.md#variables-of-a-run). */
export function jobVariables(job: JobContext, parts: VariableParts): RunVariables {
  const { delivery, template, inventory_id: inventoryId } = job;
  const { prefixes, projectRevision, projectBranch, executionNode, read } = parts;
  const inventory =
    inventoryId === null ? null : { id: inventoryId, name: job.inventory_name ?? '' };
  const facts = {
    jobId: job.id,
    launchType: job.launch_type,
    template,
    inventory,
    user: job.user,
    projectRevision,
    projectBranch,
    jobBranch: job.scm_branch,
    executionNode,
    schedule: job.schedule,
  };
  return combineVariables(
    {
      job: { ...read(job.extra_vars), ...parts.answers },
      webhook: delivery ? webhookVariables(delivery, prefixes) : {},
      credentials: parts.credentials,
      meta: metaVariables(facts, prefixes),
    },
    read(template?.extra_vars ?? ''),
  );
}

/**
 * Merges the sources. Only values that are identical in the template are trusted, because the author of the
 * template can use `{{ }}`. Other values come from a launch, an event or a name, and remain plain text.
 */
export function combineVariables(sources: JobVariableSources, template: Variables): RunVariables {
  const extraVars: Record<string, unknown> = {
    ...sources.job,
    ...sources.webhook,
    ...sources.credentials,
    ...sources.meta,
  };
  const isTrusted = (key: string): boolean =>
    Object.hasOwn(template, key) && isDeepStrictEqual(template[key], extraVars[key]);
  return { extraVars, unsafeKeys: Object.keys(extraVars).filter((key) => !isTrusted(key)) };
}

/** Returns the variables that describe the run, each of them with every prefix. */
export function metaVariables(
  facts: VariableFacts,
  prefixes: readonly string[],
): Record<string, unknown> {
  const { template, inventory, schedule, user } = facts;
  const values: [name: string, value: unknown][] = [
    ['job_id', facts.jobId],
    ['job_launch_type', facts.launchType],
    ['execution_node', facts.executionNode],
  ];
  if (template) values.push(['job_template_id', template.id], ['job_template_name', template.name]);
  if (facts.projectRevision !== '') values.push(['project_revision', facts.projectRevision]);
  if (facts.projectBranch !== '') values.push(['project_scm_branch', facts.projectBranch]);
  if (facts.jobBranch !== '') values.push(['job_scm_branch', facts.jobBranch]);
  if (inventory) values.push(['inventory_id', inventory.id], ['inventory_name', inventory.name]);
  if (schedule) values.push(['schedule_id', schedule.id], ['schedule_name', schedule.name]);
  if (user) {
    values.push(
      ['user_id', user.id],
      ['user_name', user.username],
      ['user_email', user.email],
      ['user_first_name', user.first_name],
      ['user_last_name', user.last_name],
    );
  }
  return Object.fromEntries(
    prefixes.flatMap((prefix) => values.map(([name, value]) => [`${prefix}${name}`, value])),
  );
}
