import { Injectable } from '@nestjs/common';
import { exactJson } from '../../common/exact-json.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { Settings } from '../../config/settings.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { VariablePrefixes } from '../../code-hosts/variables.js';
import type { HostRow } from '../../inventories/ansible-inventory.js';
import { HostMetricsRepository } from '../../host-metrics/host-metrics.repository.js';
import { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import { JobHostSummariesRepository } from '../../runs/events/job-host-summaries.repository.js';
import { sealArtifacts } from '../../runs/workflow-artifacts.js';
import { JobContextsRepository, type JobContext } from '../../runs/job-contexts.repository.js';
import {
  artifactsTooLarge,
  LIMIT_WITHOUT_HOSTS,
  NO_PROJECT,
  SECRETS_TOO_LARGE,
} from '../../runs/run-explanations.js';
import { MAX_ARTIFACT_BYTES } from '../runner/events.js';
import { textsIn } from '../runner/clean-text.js';
import { readAllVariables } from '../../common/fields/variables.js';
import { searchPaths } from '../runner/ansible-paths.js';
import { createMasker } from '../runner/masker.js';
import { preparePlaybookRun } from '../runner/playbook-run.js';
import type { Workspace } from '../runner/workspace.js';
import { stopIfEnded, type ActiveRun } from './active-runs.service.js';
import { AnsibleProcess, type EndedProcess, type Preparation } from './ansible-process.service.js';
import { JobCredentials, credentialProperties } from './job-credentials.service.js';
import { JobFacts, type RunHostFacts } from './job-facts.service.js';
import { JobInventory, type RunInventory, type PlaybookContext } from './job-inventory.service.js';
import { JobProjectFiles } from './job-project-files.service.js';
import { jobVariables } from './job-variables.js';
import { CannotStart, type RunOutcome, type RunKind } from './outcome.js';
import { WorkerNode } from './worker-node.service.js';
import { openPasswords, openSecrets } from '../../prompts/launch-secrets.js';

/**
 * Maximum JSON size of statistics set under `no_log` that are passed on, in characters: the output
 * of the receiving jobs is searched for every text in these statistics.
 */
const MAX_SECRETS = 64 * 1024;

interface JobPreparation extends Preparation {
  /** Facts of the run; null if facts are not stored. */
  facts: RunHostFacts | null;
}

@Injectable()
export class PlaybookJob implements RunKind {
  constructor(
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
    private readonly jobs: JobContextsRepository,
    private readonly credentials: JobCredentials,
    private readonly inventories: JobInventory,
    private readonly projectFiles: JobProjectFiles,
    private readonly facts: JobFacts,
    private readonly process: AnsibleProcess,
    private readonly storedEvents: JobEventsRepository,
    private readonly summaries: JobHostSummariesRepository,
    private readonly metrics: HostMetricsRepository,
    private readonly node: WorkerNode,
    private readonly box: SecretBox,
    private readonly prefixes: VariablePrefixes,
  ) {}

  async run(run: ActiveRun): Promise<RunOutcome> {
    const job = await this.jobs.load(run.id);
    if (job.cancel_requested) run.end('cancel');
    return (await this.attempt(run, job)) ?? this.withoutHosts(run, job);
  }

  /**
   * Repeats a run whose limit matches no host. Ansible refuses such a limit only if the inventory
   * has hosts. With an empty inventory the same playbook ends successfully with "no hosts matched"
   * (docs/contract/runs.md#inventory-of-a-run).
   */
  private async withoutHosts(run: ActiveRun, job: JobContext): Promise<RunOutcome> {
    // `all` replaces the limit: without hosts, a limit that names `localhost` would match the
    // implicit `localhost`.
    const outcome = await this.attempt(run, { ...job, limit: 'all', isWithoutHosts: true });
    if (!outcome) throw new Error('A limit was refused where there are no hosts.');
    const isExplained = outcome.status !== 'successful' || outcome.explanation;
    return isExplained ? outcome : { ...outcome, explanation: LIMIT_WITHOUT_HOSTS };
  }

  private attempt(run: ActiveRun, job: PlaybookContext): Promise<RunOutcome | null> {
    return this.process.run(
      run,
      (workspace, onOutput) => this.prepare(run, job, { workspace, onOutput }),
      (ended) => this.evaluate(run, job, ended),
    );
  }

  private async prepare(
    run: ActiveRun,
    job: PlaybookContext,
    { workspace, onOutput }: { workspace: Workspace; onOutput: (text: string) => void },
  ): Promise<JobPreparation> {
    const { project } = job;
    const { document: inventory, hosts, originals } = await this.inventories.load(job);
    run.hosts = new Map(hosts.map(({ id, name }) => [name, id]));
    run.originals = originals;
    if (!project) throw new CannotStart(NO_PROJECT);
    const passwords = openPasswords(this.box, job.id, job.start_args);
    // `extra_vars` contains a mask in place of the secret answers of the survey.
    const answers = openSecrets(this.box, job.id, job.launch_config);
    const limits = await this.limits(job);
    const files = await this.projectFiles.provide(run, {
      project,
      branch: job.scm_branch,
      destination: workspace.projectDir,
      timeoutSeconds: limits.timeoutSeconds,
      onOutput,
    });
    run.lookups.revision = files.revision;
    const plan = await this.credentials.open(run, job.credential_ids, { passwords, workspace });
    stopIfEnded(run);
    const description = {
      ...jobOptions(job, this.settings.MAX_FORKS),
      ...credentialProperties(plan),
      ...jobVariables(job, {
        answers,
        credentials: plan.extraVars,
        executionNode: this.node.hostname,
        projectBranch: project.scm_branch,
        projectRevision: files.revision,
        prefixes: this.prefixes.all,
        read: await readAllVariables([job.extra_vars, job.template?.extra_vars ?? '']),
      }),
      jobId: run.id,
      attempt: run.attempt,
      projectDir: files.dir,
      copyProject: files.isShared,
      ...(files.content === null ? {} : await searchPaths(files.dir, files.content)),
      projectRevision: files.revision,
      inventory,
      ...limits,
      usesFacts: job.use_fact_cache,
    };
    const prepared = await preparePlaybookRun(description, workspace);
    const facts = job.use_fact_cache
      ? await this.facts.provide(workspace, originalHosts(hosts, originals), project.id)
      : null;
    const masker = createMasker([...plan.secrets, ...textsIn(answers)]);
    return { prepared, masker, revision: files.revision, shared: files.shared, facts };
  }

  /** Returns the limits of a job. A timeout of -1 means no timeout, 0 the default of the settings. */
  private async limits({ timeout }: JobContext) {
    const { DEFAULT_JOB_TIMEOUT: defaultTimeout, DEFAULT_JOB_IDLE_TIMEOUT: idleSeconds } =
      await this.runtime.get('DEFAULT_JOB_TIMEOUT', 'DEFAULT_JOB_IDLE_TIMEOUT');
    return { timeoutSeconds: timeout === 0 ? defaultTimeout : Math.max(timeout, 0), idleSeconds };
  }

  /** @returns null if the limit matches none of the hosts: nothing was executed or stored */
  private async evaluate(
    run: ActiveRun,
    job: PlaybookContext,
    ended: EndedProcess<JobPreparation>,
  ): Promise<RunOutcome | null> {
    const { result, events, preparation } = ended;
    if (result.status === 'failed' && events.isWithoutHosts()) return null;
    const { explanation, fields, ...outcome } = await this.process.conclude(run, ended);
    // Only nodes of a workflow receive hidden statistics; no other run uses them.
    const secret = job.launch_type === 'workflow' ? events.secretArtifacts() : {};
    const isTooLarge = exactJson(secret).length > MAX_SECRETS;
    const explanations = [
      explanation,
      await this.storeFacts(run, preparation),
      isTooLarge && SECRETS_TOO_LARGE,
      events.hasLargeArtifacts && artifactsTooLarge(MAX_ARTIFACT_BYTES),
    ];
    return {
      ...outcome,
      explanation: explanations.filter(Boolean).join(' '),
      write: async () => {
        await this.storedEvents.propagate(run.id);
        await this.summaries.store(run.id, events.summaries, run);
        await this.metrics.countJob(events.summaries.keys());
      },
      fields: {
        ...events.fields(),
        secret_artifacts: sealArtifacts(this.box, 'unified_jobs', run.id, isTooLarge ? {} : secret),
        ...fields,
      },
    };
  }

  /** @returns message for the explanation of the run; empty without problems */
  private async storeFacts(
    run: ActiveRun,
    { facts, prepared, masker }: JobPreparation,
  ): Promise<string> {
    if (facts === null || run.reason === 'lost') return '';
    return this.facts.storeCollected(run, prepared.workspace, { ...facts, masker });
  }
}

/** Returns the options of the playbook of a job. */
export const jobOptions = (job: JobContext, maxForks: number) => ({
  playbook: job.playbook,
  jobType: job.job_type === 'check' ? ('check' as const) : ('run' as const),
  limit: job.limit,
  forks: Math.min(job.forks, maxForks),
  verbosity: job.verbosity,
  tags: job.job_tags,
  skipTags: job.skip_tags,
  startAtTask: job.start_at_task,
  diffMode: job.diff_mode,
  forceHandlers: job.force_handlers,
  becomeEnabled: job.become_enabled,
  ...(job.inventory_id === null ? {} : { inventoryId: job.inventory_id }),
});

/** Returns the original hosts of a constructed inventory, which the facts belong to. */
function originalHosts(
  hosts: readonly HostRow[],
  originals: RunInventory['originals'],
): readonly Pick<HostRow, 'id' | 'name'>[] {
  if (originals === null) return hosts;
  return hosts.flatMap(({ id, name }) => {
    const original = originals.get(id) ?? null;
    return original === null ? [] : [{ id: original, name }];
  });
}
