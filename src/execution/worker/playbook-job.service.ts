import { exactJson } from '../../common/exact-json.js';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { Settings } from '../../config/settings.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { VariablePrefixes } from '../../code-hosts/variables.js';
import type { HostRow } from '../../inventories/ansible-inventory.js';
import { HostMetricsRepository } from '../../host-metrics/host-metrics.repository.js';
import { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import { JobHostSummariesRepository } from '../../runs/events/job-host-summaries.repository.js';
import { sealArtifacts } from '../../runs/handed-artifacts.js';
import { JobContextsRepository, type JobContext } from '../../runs/job-contexts.repository.js';
import { LIMIT_WITHOUT_HOSTS, NO_PROJECT, SECRETS_TOO_LARGE } from '../../runs/run-explanations.js';
import { textsIn } from '../runner/clean-text.js';
import { readAllVariables } from '../../common/fields/variables.js';
import { searchPaths } from '../runner/ansible-paths.js';
import { createMasker } from '../runner/masker.js';
import { preparePlaybookRun } from '../runner/playbook-run.js';
import type { Workspace } from '../runner/workspace.js';
import type { ActiveRun } from './active-runs.service.js';
import {
  AnsibleProcess,
  stopIfEnded,
  type EndedProcess,
  type Preparation,
} from './ansible-process.service.js';
import { JobCredentials, credentialPart } from './job-credentials.service.js';
import { JobFacts, type FactsOfRun } from './job-facts.service.js';
import {
  JobInventory,
  type InventoryOfRun,
  type PlaybookContext,
} from './job-inventory.service.js';
import { JobProjectFiles } from './job-project-files.service.js';
import { jobSecrets } from './job-secrets.js';
import { jobVariables } from './job-variables.js';
import { CannotStart, type Outcome, type RunKind } from './outcome.js';
import { WorkerNode } from './worker-node.service.js';

/**
 * Largest JSON of statistics set under `no_log` that is handed on, in characters: every text in it is looked for in all
 * output of the jobs that get it.
 */
const MOST_SECRETS = 64 * 1024;

interface JobPreparation extends Preparation {
  /** Null where facts end with the run. */
  facts: FactsOfRun | null;
}

/** Runs a job's playbook: the one place where all its parts come together. */
@Injectable()
export class PlaybookJob implements RunKind<ActiveRun> {
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

  async run(run: ActiveRun): Promise<Outcome> {
    const job = await this.jobs.load(run.id);
    if (job.cancel_requested) run.end('cancel');
    return (await this.attempt(run, job)) ?? this.withoutHosts(run, job);
  }

  /**
   * Ansible refuses a limit that leaves none of several hosts, and welcomes any limit where there is no
   * host: the same playbook ends successful, "no hosts matched" (docs/contract/runs.md#inventory-of-a-run).
   */
  private async withoutHosts(run: ActiveRun, job: JobContext): Promise<Outcome> {
    // The limit is Ansible's to understand, and without hosts `localhost` would match a limit that names it.
    const outcome = await this.attempt(run, { ...job, limit: 'all', isWithoutHosts: true });
    if (!outcome) throw new Error('A limit was refused where there are no hosts.');
    const isExplained = outcome.status !== 'successful' || outcome.explanation;
    return isExplained ? outcome : { ...outcome, explanation: LIMIT_WITHOUT_HOSTS };
  }

  private attempt(run: ActiveRun, job: PlaybookContext): Promise<Outcome | null> {
    return this.process.run(
      run,
      (workspace, tell) => this.prepare(run, job, { workspace, tell }),
      (ended) => this.judge(run, job, ended),
    );
  }

  private async prepare(
    run: ActiveRun,
    job: PlaybookContext,
    { workspace, tell }: { workspace: Workspace; tell: (text: string) => void },
  ): Promise<JobPreparation> {
    const { project } = job;
    const { document: inventory, hosts, originals } = await this.inventories.load(job);
    run.hosts = new Map(hosts.map(({ id, name }) => [name, id]));
    run.originals = originals;
    if (!project) throw new CannotStart(NO_PROJECT);
    const { passwords, answers } = jobSecrets(this.box, job);
    const plan = await this.credentials.open(job.credential_ids, passwords, workspace);
    const files = await this.projectFiles.provide(run, {
      project,
      branch: job.scm_branch,
      destination: workspace.projectDir,
      onOutput: tell,
    });
    stopIfEnded(run);
    const description = {
      ...this.options(job),
      ...credentialPart(plan),
      ...jobVariables(job, {
        ...{ answers, credentials: plan.extraVars, executionNode: this.node.hostname },
        ...{ projectBranch: project.scm_branch, projectRevision: files.revision },
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
      timeoutSeconds: await this.timeout(job),
      usesFacts: job.use_fact_cache,
    };
    const prepared = await preparePlaybookRun(description, workspace);
    const facts = job.use_fact_cache
      ? await this.facts.hand(workspace, realHosts(hosts, originals), project.id)
      : null;
    const masker = createMasker([...plan.secrets, ...textsIn(answers)]);
    return { prepared, masker, revision: files.revision, shared: files.shared, facts };
  }

  private options(job: JobContext) {
    return {
      playbook: job.playbook,
      jobType: job.job_type === 'check' ? ('check' as const) : ('run' as const),
      limit: job.limit,
      forks: Math.min(job.forks, this.settings.MAX_FORKS),
      verbosity: job.verbosity,
      tags: job.job_tags,
      skipTags: job.skip_tags,
      startAtTask: job.start_at_task,
      diffMode: job.diff_mode,
      forceHandlers: job.force_handlers,
      becomeEnabled: job.become_enabled,
      ...(job.inventory_id === null ? {} : { inventoryId: job.inventory_id }),
    };
  }

  /** -1 is no limit, 0 the setting's. */
  private async timeout({ timeout }: JobContext): Promise<number> {
    if (timeout !== 0) return Math.max(timeout, 0);
    return (await this.runtime.get('DEFAULT_JOB_TIMEOUT')).DEFAULT_JOB_TIMEOUT;
  }

  /** @returns null when the limit left none of the hosts: nothing has been run or stored */
  private async judge(
    run: ActiveRun,
    job: PlaybookContext,
    ended: EndedProcess<JobPreparation>,
  ): Promise<Outcome | null> {
    const { result, events, preparation } = ended;
    if (result.status === 'failed' && events.isWithoutHosts()) return null;
    const { explanation, fields, ...verdict } = await this.process.conclude(run, ended);
    // Only the nodes of a workflow get what must not be seen; nobody else has a use for it.
    const secret = job.launch_type === 'workflow' ? events.secretArtifacts() : {};
    const isTooLarge = exactJson(secret).length > MOST_SECRETS;
    const notes = [
      explanation,
      await this.keepFacts(run, preparation),
      isTooLarge && SECRETS_TOO_LARGE,
    ];
    return {
      ...verdict,
      explanation: notes.filter(Boolean).join(' '),
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

  /** @returns what the run tells of it; empty when all is well */
  private async keepFacts(run: ActiveRun, { facts, prepared }: JobPreparation): Promise<string> {
    if (facts === null || run.reason === 'lost') return '';
    return this.facts.keep(run, prepared.workspace, facts);
  }
}

/** Facts belong to the hosts that those of a constructed inventory come from. */
function realHosts(
  hosts: readonly HostRow[],
  originals: InventoryOfRun['originals'],
): readonly Pick<HostRow, 'id' | 'name'>[] {
  if (originals === null) return hosts;
  return hosts.flatMap(({ id, name }) => {
    const original = originals.get(id) ?? null;
    return original === null ? [] : [{ id: original, name }];
  });
}
