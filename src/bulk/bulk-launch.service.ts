import { Injectable } from '@nestjs/common';
import { exactJson } from '../common/exact-json.js';
import type { Actor } from '../common/access.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { settleAll } from '../database/settle-all.js';
import { Database } from '../database/database.js';
import type { Prompts } from '../prompts/launch-options.js';
import type { LaunchType } from '../runs/unified-job.entity.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { WorkflowRows, type NewWorkflowJob } from '../workflows/workflow-rows.service.js';
import {
  BulkLaunchCheck,
  type BulkLaunch,
  type CheckedLaunch,
} from './bulk-launch-check.service.js';
import { assertWithin } from './bulk-limits.js';
import { readJobEntries, readLaunch, type JobEntry } from './job-entries.js';

/** Launches many jobs as nodes of one workflow job, all or none. */
@Injectable()
export class BulkLaunchService {
  constructor(
    private readonly database: Database,
    private readonly settings: RuntimeSettings,
    private readonly checks: BulkLaunchCheck,
    private readonly rows: WorkflowRows,
    private readonly resources: ResourceService,
  ) {}

  /**
   * @param dryRun true to report the effects of the request without applying them
   * @throws Invalid; `jobs` lists the errors of each job in the order of the jobs
   */
  async launch(body: Record<string, unknown>, actor: Actor, dryRun: boolean): Promise<object> {
    return this.start(await this.read(body), actor, { launchType: 'manual', dryRun });
  }

  /** Launches a parsed bulk launch; also used for relaunches. */
  async start(
    launch: BulkLaunch,
    actor: Actor,
    { launchType, dryRun = false }: { launchType: LaunchType; dryRun?: boolean },
  ): Promise<object> {
    return this.database.transaction(async () => {
      const [checked, ids] = await settleAll([
        this.checks.check(launch, actor),
        dryRun ? undefined : this.rows.takeIds(1, launch.entries.length),
      ]);
      assertNoErrors(checked);
      const ignored = ignoredFields(checked);
      if (dryRun) return preview(launch, checked, ignored);
      const job = workflowJobOf(launch, checked, actor, launchType);
      const written = await this.rows.write([job], ids);
      const shown = await this.resources.show(workflowJobs, itemAt(written, 0), actor);
      return { ...shown, ignored_fields: ignored };
    });
  }

  /**
   * Parses a request and reports errors of the launch and its jobs together. If there are too many jobs,
   * they are not parsed.
   */
  private async read(body: Record<string, unknown>): Promise<BulkLaunch> {
    const { values, prompts, errors } = readLaunch(body);
    const { name = '', description, organization = null, jobs } = values;
    const sent = errors.jobs ? [] : (jobs ?? []);
    const limits = await this.settings.get('BULK_JOB_MAX_LAUNCH', 'BULK_JOB_VARIABLES_LIMIT');
    assertWithin('requested jobs', sent.length, 'BULK_JOB_MAX_LAUNCH', limits.BULK_JOB_MAX_LAUNCH);
    const { entries, errors: entryErrors } = await readJobEntries(sent);
    const valid = entries.filter((entry) => entry !== null);
    if (valid.length < entries.length) errors.jobs = entryErrors;
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    const length = lengthOfVariables(prompts, valid);
    const limit = limits.BULK_JOB_VARIABLES_LIMIT;
    assertWithin('characters of variables', length, 'BULK_JOB_VARIABLES_LIMIT', limit);
    return {
      name,
      prompts,
      description: description ?? '',
      organizationId: organization,
      entries: valid,
    };
  }
}

/**
 * Returns the total length of the variables as JSON. The variables of the launch count once per job.
 */
function lengthOfVariables(prompts: Prompts, entries: readonly JobEntry[]): number {
  const lengthOf = ({ extra_vars: variables = {} }: Prompts): number => exactJson(variables).length;
  const shared = lengthOf(prompts) * entries.length;
  return entries.reduce((sum, entry) => sum + lengthOf(entry.prompts), shared);
}

function workflowJobOf(
  launch: BulkLaunch,
  checked: CheckedLaunch,
  actor: Actor,
  launchType: LaunchType,
): NewWorkflowJob {
  const secrets = [...new Set(checked.entries.flatMap((entry) => entry.secrets))];
  const defaults = launch.prompts.extra_vars ?? {};
  const secretDefaults = secrets.filter((name) => Object.hasOwn(defaults, name));
  return {
    name: launch.name,
    description: launch.description,
    templateId: null,
    isBulk: true,
    // A workflow job without a template has no other runs to overlap with.
    allowSimultaneous: false,
    organizationId: checked.organizationId,
    createdBy: actor.id,
    launchType,
    prompts: launch.prompts,
    secrets,
    nodes: checked.entries.map(({ entry, effective, secrets: own }) => ({
      identifier: entry.identifier,
      templateId: entry.templateId,
      prompts: entry.prompts,
      effective,
      // A variable of the launch that is secret for one job is secret for all jobs that do not set it.
      secrets: [...own, ...secretDefaults.filter((name) => !setsVariable(entry, name))],
    })),
  };
}

const setsVariable = (
  { prompts: { extra_vars: variables = {} } }: JobEntry,
  name: string,
): boolean => Object.hasOwn(variables, name);

function assertNoErrors({ launchErrors, entryErrors, fieldErrors }: CheckedLaunch): void {
  const errors: FieldErrors = { ...fieldErrors };
  if (entryErrors.some((entry) => Object.keys(entry).length > 0)) errors.jobs = entryErrors;
  if (launchErrors.length > 0) errors.__all__ = launchErrors;
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
}

/** Returns the names of fields without effect, by node. */
function ignoredFields({ entries }: CheckedLaunch): Record<string, string[]> {
  return Object.fromEntries(
    entries
      .filter(({ ignored }) => ignored.length > 0)
      .map(({ entry, ignored }) => [entry.identifier, ignored]),
  );
}

function preview(launch: BulkLaunch, checked: CheckedLaunch, ignored: object): object {
  return {
    dry_run: true,
    name: launch.name,
    organization: checked.organizationId,
    jobs: checked.entries.map(({ entry, ignored: fields }) => ({
      identifier: entry.identifier,
      unified_job_template: entry.templateId,
      ignored_fields: fields,
    })),
    ignored_fields: ignored,
  };
}
