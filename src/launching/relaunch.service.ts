import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { BadRequest, Forbidden, Invalid } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { tableOf } from '../common/records.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { isHostPattern, limitTo } from '../inventories/host-name.js';
import { organizations } from '../organizations/organizations.resource.js';
import { jobTemplates } from '../job-templates/job-templates.resource.js';
import type { Prompts } from '../prompts/launch-options.js';
import { isActive } from '../runs/cancel.service.js';
import { JobHostSummariesRepository } from '../runs/events/job-host-summaries.repository.js';
import type { Job } from '../runs/job.entity.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { neededPasswords } from './launch-check.js';
import { LaunchLoader } from './launch.loader.js';
import { HeldRuns } from '../workflows/held-runs.listener.js';
import type { LaunchRequest } from './template-launcher.js';
import { maskedNames, openSecrets, promptsOf } from '../prompts/launch-secrets.js';
import { JobLauncher } from './job-launcher.service.js';
import { assertOwnSecrets } from './relaunch-secrets.js';
import { webhookOf } from '../runs/webhook-run.schema.js';

const TEXTS = {
  active: 'Wait until job finishes before retrying on failed hosts.',
  noStats: 'Cannot retry on failed hosts, playbook stats not available.',
  noneFailed: 'Cannot relaunch because previous job had 0 failed hosts.',
  pattern: 'Cannot retry on failed hosts, because the name of a host is a pattern.',
  tooLong: 'Cannot retry on failed hosts, because their names together are too long.',
  notYet: 'Relaunch by host status not available until job finishes running.',
  prompts: 'Job was launched with prompted fields you do not have access to.',
  unknown:
    'Job was launched with unknown prompted fields. Organization admin permissions required.',
  orphan: 'Job has been orphaned from its job template and organization.',
  noTemplate: 'Job Template is missing or undefined.',
} as const;

/**
 * Maximum length of the names of failed hosts. A run can print statistics of any hosts, and lists of jobs contain
 * the limit of each job.
 */
const MAX_LIMIT = 1_048_576;

/** Hosts of the former run for which a job is relaunched. */
export type RelaunchHosts = 'all' | 'failed';

type JobRow = RowOf<Job>;

/** Requirements of a relaunch, with the names of the API. An active job has a text instead of counts. */
interface RelaunchNeeds {
  passwords_needed_to_start: string[];
  retry_counts: string | { all: number | string; failed: number | string };
}

/** Launches a job again with its prompts (docs/contract/launching.md#relaunch). */
@Injectable()
export class RelaunchService {
  constructor(
    private readonly runs: RunsRepository,
    private readonly summaries: JobHostSummariesRepository,
    private readonly resources: ResourceService,
    private readonly loader: LaunchLoader,
    private readonly launcher: JobLauncher,
    private readonly box: SecretBox,
    private readonly heldRuns: HeldRuns,
  ) {}

  /** Returns the requirements of a relaunch: the response to GET. */
  async needs(job: Row, actor: Actor): Promise<RelaunchNeeds> {
    const credentials = await this.runs.credentialsOf(job.id);
    const loaded = await this.loader.load({ credentials }, actor);
    const { all, failed } = await this.hostCounts(job.id);
    return {
      passwords_needed_to_start: neededPasswords([...loaded.credentials.values()]),
      retry_counts: isActive(job) ? TEXTS.notYet : { all, failed },
    };
  }

  /**
   * @returns id of the new job
   * @throws Invalid, BadRequest, Forbidden with the texts of the contract
   */
  async relaunch(
    job: JobRow,
    hosts: RelaunchHosts,
    credentialPasswords: Record<string, string>,
    actor: Actor,
  ): Promise<number> {
    const templateId = await this.assertMayRelaunch(job, actor);
    const prompts = await this.formerPrompts(job, actor);
    if (hosts === 'failed') prompts.limit = await this.failedHosts(job);
    const request: LaunchRequest = {
      templateId,
      launchType: 'relaunch',
      prompts,
      credentialPasswords,
      createdBy: actor.id,
      isRelaunch: true,
      slice: { number: job.job_slice_number, count: job.job_slice_count },
      secretNames: maskedNames(promptsOf(job.launch_config).extra_vars),
      name: job.name,
      ...environmentOf(job),
      ...webhookOf(job),
    };
    try {
      const launched = await this.launcher.launch([request], actor);
      return itemAt(launched, 0).id;
    } catch (error) {
      // The caller can launch the template itself, so the refusal concerns objects of the prompts.
      throw error instanceof Forbidden ? new Forbidden(TEXTS.prompts) : withRelaunchTexts(error);
    }
  }

  /**
   * Verifies that the caller may launch the template of the job again.
   *
   * @throws Forbidden without permission, or without the prompts of the former launch if the caller does
   *   not administer the organization; BadRequest if the template was deleted
   * @returns the id of the template
   */
  private async assertMayRelaunch(job: JobRow, actor: Actor): Promise<number> {
    const templateId = job.job_template_id;
    if (templateId === null && job.organization_id === null && !actor.isSuperuser) {
      throw new Forbidden(TEXTS.orphan);
    }
    if (templateId === null || job.launch_config === null) {
      await this.assertOrganizationAdmin(job, actor);
    } else {
      await this.resources.load(jobTemplates, templateId, actor, { action: 'start' });
    }
    if (templateId === null) throw new BadRequest(TEXTS.noTemplate);
    return templateId;
  }

  private async assertOrganizationAdmin(job: JobRow, actor: Actor): Promise<void> {
    if (actor.isSuperuser) return;
    const organization = job.organization_id;
    if (organization === null) throw new Forbidden(TEXTS.unknown);
    try {
      await this.resources.assertMay(organizations, organization, 'change', actor);
    } catch (error) {
      throw error instanceof Forbidden ? new Forbidden(TEXTS.unknown) : error;
    }
  }

  /**
   * Returns the prompts of the former launch, with secret answers from the former job's row.
   *
   * @throws BadRequest if the former launch was never approved, Forbidden if another user entered its
   *   secret answers and the caller is not a superuser
   */
  async formerPrompts(job: JobRow, actor: Actor): Promise<Prompts> {
    await this.heldRuns.assertApproved(job);
    const config = job.launch_config;
    const prompts = promptsOf(config);
    const secrets = maskedNames(prompts.extra_vars);
    assertOwnSecrets(job, secrets, actor);
    if (secrets.length > 0) {
      const opened = openSecrets(this.box, job.id, config);
      const answers = tableOf(secrets, (name) => opened[name]);
      prompts.extra_vars = { ...prompts.extra_vars, ...answers };
    }
    // Credentials that were deleted meanwhile were also removed from the former job.
    if (prompts.credentials) prompts.credentials = await this.runs.credentialsOf(job.id);
    // The column of a deleted execution environment is null; the prompts still contain its id.
    if (job.execution_environment_id === null) delete prompts.execution_environment;
    return prompts;
  }

  private async failedHosts(job: JobRow): Promise<string> {
    if (isActive(job)) throw Invalid.field('hosts', TEXTS.active);
    const { hasStats, failed } = await this.hostCounts(job.id);
    if (!hasStats) throw Invalid.field('hosts', TEXTS.noStats);
    if (failed === 0) throw Invalid.field('hosts', TEXTS.noneFailed);
    const names = await this.summaries.failedHosts(job.id);
    if (names.some(isHostPattern)) throw Invalid.field('hosts', TEXTS.pattern);
    const limit = limitTo(names);
    if (limit.length > MAX_LIMIT) throw Invalid.field('hosts', TEXTS.tooLong);
    return limit;
  }

  private async hostCounts(
    jobId: number,
  ): Promise<{ all: number; failed: number; hasStats: boolean }> {
    const row = await this.summaries.counts(jobId);
    return { all: row.all, failed: row.failed, hasStats: row.stats || row.all > 0 };
  }
}

/** Returns the execution environment of the former run, unless it was deleted meanwhile. */
const environmentOf = ({
  execution_environment_id,
  environment,
}: JobRow): Pick<LaunchRequest, 'environment'> =>
  environment === null || execution_environment_id === null
    ? {}
    : { environment: { execution_environment_id, environment } };

/**
 * Returns the error with the contract's text for objects that were removed from the template
 * (docs/contract/launching.md#relaunch).
 */
function withRelaunchTexts(error: unknown): unknown {
  if (!(error instanceof Invalid)) return error;
  if ('project' in error.errors) {
    return new BadRequest('Job Template Project is missing or undefined.');
  }
  if ('resources_needed_to_start' in error.errors || 'inventory' in error.errors) {
    return new BadRequest('Job Template Inventory is missing or undefined.');
  }
  return error;
}
