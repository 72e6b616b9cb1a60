import { memberOf } from '../../common/records.js';
import { Injectable, Logger } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { failPoint } from '../../common/fail-point.js';
import { Settings } from '../../config/settings.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { VariablePrefixes } from '../../code-hosts/variables.js';
import { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import { JobHostSummariesRepository } from '../../runs/events/job-host-summaries.repository.js';
import { sealArtifacts } from '../../runs/handed-artifacts.js';
import { JobContextsRepository, type JobContext } from '../../runs/job-contexts.repository.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import {
  LIMIT_WITHOUT_HOSTS,
  NO_INVENTORY,
  NO_PROJECT,
  SECRETS_TOO_LARGE,
  TIMED_OUT,
  tooMuchWritten,
} from '../../runs/run-explanations.js';
import { textsIn } from '../runner/clean-text.js';
import { readAllVariables } from '../../common/fields/variables.js';
import { readInventory, type AnsibleInventory } from '../../inventories/ansible-inventory.js';
import { createMasker, type Masker } from '../runner/masker.js';
import { preparePlaybookRun, type PreparedRun } from '../runner/playbook-run.js';
import { Boundary } from '../boundary/boundary.service.js';
import { runEnclosure } from '../boundary/run-enclosure.js';
import { startRun, type RunResult } from '../runner/run-process.js';
import { createWorkspace, removeDirectory, type Workspace } from '../runner/workspace.js';
import { RunEnded, type ActiveRun } from './active-runs.service.js';
import { EventStore } from './event-store.service.js';
import { JobCredentials, credentialPart } from './job-credentials.service.js';
import { JobProjectFiles, type ProjectFiles } from './job-project-files.service.js';
import { jobSecrets } from './job-secrets.js';
import { jobVariables } from './job-variables.js';
import { CannotStart, type Outcome, type RunKind } from './outcome.js';
import { patiently } from './patience.js';
import { PlaybookEvents } from './playbook-events.js';
import { WorkerNode } from './worker-node.service.js';

/** Ends the children of a run early enough for the worker to leave in time. */
const KILL_GRACE_MS = 8000;
/**
 * Largest JSON of statistics set under `no_log` that is handed on, in characters: every text in it is looked for in all
 * output of the jobs that get it.
 */
const MOST_SECRETS = 64 * 1024;

interface Preparation {
  prepared: PreparedRun;
  masker: Masker;
  files: ProjectFiles;
}

/** What a run is made of, and whether the hosts of its inventory are left out. */
type PlaybookContext = JobContext & { isWithoutHosts?: true };

/** Runs a job's playbook: the one place where all its parts come together. */
@Injectable()
export class PlaybookJob implements RunKind<ActiveRun> {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
    private readonly jobs: JobContextsRepository,
    private readonly leases: RunLeasesRepository,
    private readonly credentials: JobCredentials,
    private readonly inventories: InventoryRows,
    private readonly projectFiles: JobProjectFiles,
    private readonly events: EventStore,
    private readonly storedEvents: JobEventsRepository,
    private readonly summaries: JobHostSummariesRepository,
    private readonly node: WorkerNode,
    private readonly box: SecretBox,
    private readonly boundary: Boundary,
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

  /** @returns null when the limit leaves none of the hosts: nothing has been run or stored */
  private async attempt(run: ActiveRun, job: PlaybookContext): Promise<Outcome | null> {
    const place = await this.boundary.place();
    const workspace = await createWorkspace(this.node.workspaces, run.id, run.attempt, place);
    try {
      const preparation = await this.prepare(run, job, workspace);
      failPoint('run-prepared');
      await this.begin(run, preparation);
      return await this.play(run, job, preparation);
    } finally {
      await removeDirectory(workspace.root).catch((error: Error) => {
        this.logger.warn({ message: 'folder left', run: run.id, reason: error.message });
      });
    }
  }

  private async prepare(
    run: ActiveRun,
    job: PlaybookContext,
    workspace: Workspace,
  ): Promise<Preparation> {
    const { project } = job;
    const inventory = await this.inventory(job);
    if (!project) throw new CannotStart(NO_PROJECT);
    const { passwords, answers } = jobSecrets(this.box, job);
    const plan = await this.credentials.open(job.credential_ids, passwords, workspace);
    const files = await this.projectFiles.provide(run, {
      project,
      branch: job.scm_branch,
      destination: workspace.projectDir,
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
      projectRevision: files.revision,
      inventory,
      timeoutSeconds: await this.timeout(job),
    };
    const prepared = await preparePlaybookRun(description, workspace);
    return { prepared, masker: createMasker([...plan.secrets, ...textsIn(answers)]), files };
  }

  private async inventory(job: PlaybookContext): Promise<AnsibleInventory> {
    const rows = job.inventory_id === null ? null : await this.inventories.load(job.inventory_id);
    if (!rows) throw new CannotStart(NO_INVENTORY);
    const { job_slice_number: number, job_slice_count: count } = job;
    return readInventory(rows, {
      hostvars: true,
      towervars: true,
      withoutHosts: job.isWithoutHosts ?? false,
      ...(count > 1 && number > 0 ? { slice: { number, count } } : {}),
    });
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

  /**
   * Shows how the playbook is run. It is also the last look at the lease: whoever reads these columns
   * knows that the playbook may have run, and that it must not be run again.
   */
  private async begin(run: ActiveRun, { prepared, masker, files }: Preparation): Promise<void> {
    stopIfEnded(run);
    const { mode } = await this.boundary.isolation();
    const started = {
      ...{ args: masker.text(prepared.jobArgs), cwd: prepared.jobCwd },
      ...{ revision: files.revision, isolation: mode },
      env: JSON.stringify(masker.value(prepared.jobEnv)),
    };
    const hasBegun = await patiently(
      () => this.leases.begin(run, started),
      () => run.reason === null,
    );
    if (!hasBegun) run.end((await this.leases.isHeld(run)) ? 'cancel' : 'lost');
    stopIfEnded(run);
    run.hasStarted = true;
  }

  private async play(
    run: ActiveRun,
    job: PlaybookContext,
    { prepared, masker, files }: Preparation,
  ): Promise<Outcome | null> {
    const events = new PlaybookEvents(this.events, run, masker);
    const hasNetwork = this.settings.JOB_NETWORK !== 'none';
    const enclosure = await runEnclosure(prepared.workspace, files.shared, hasNetwork);
    const handle = startRun(prepared, {
      wrap: (command) => this.boundary.wrap(command, enclosure),
      onEvents: (batch) => events.take(batch),
      signal: run.signal,
      killGraceMs: KILL_GRACE_MS,
      maxFolderBytes: this.settings.JOB_DISK_BYTES,
    });
    const result = await handle.wait();
    if (result.status === 'failed' && events.isWithoutHosts()) return null;
    if (result.error instanceof RunEnded) run.end('lost');
    else await this.lastEvents(run, events);
    const { explanation = '', ...verdict } = this.verdict(run, result, masker);
    // Only the nodes of a workflow get what must not be seen; nobody else has a use for it.
    const secret = job.launch_type === 'workflow' ? events.secretArtifacts() : {};
    const isTooLarge = JSON.stringify(secret).length > MOST_SECRETS;
    return {
      ...verdict,
      explanation: isTooLarge ? `${explanation} ${SECRETS_TOO_LARGE}`.trim() : explanation,
      write: async () => {
        await this.storedEvents.propagate(run.id);
        await this.summaries.store(run.id, events.summaries);
      },
      fields: {
        ...events.fields(),
        secret_artifacts: sealArtifacts(this.box, 'unified_jobs', run.id, isTooLarge ? {} : secret),
        ...this.traceback(result, masker),
      },
    };
  }

  private async lastEvents(run: ActiveRun, events: PlaybookEvents): Promise<void> {
    try {
      await events.finish();
    } catch (error) {
      if (error instanceof RunEnded) run.end('lost');
      throw error;
    }
  }

  private verdict(run: ActiveRun, result: RunResult, masker: Masker): Outcome {
    switch (result.status) {
      case 'successful':
      case 'failed':
      case 'canceled':
        return { status: result.status };
      case 'timeout':
        return { status: 'failed', explanation: TIMED_OUT };
      case 'full':
        return { status: 'failed', explanation: tooMuchWritten(this.settings.JOB_DISK_BYTES) };
      default: {
        const { error } = result;
        const reason = error instanceof Error ? error.message : 'see the traceback';
        this.logger.error({ message: 'runner failed', run: run.id, reason: masker.text(reason) });
        return { status: 'error', explanation: explanationOf(error) };
      }
    }
  }

  private traceback({ status, stderrTail }: RunResult, masker: Masker): Record<string, string> {
    return status === 'error' ? { result_traceback: masker.text(stderrTail) } : {};
  }
}

function stopIfEnded(run: ActiveRun): void {
  if (run.reason !== null) throw new RunEnded('The run was told to end.');
}

function explanationOf(error: unknown): string {
  const code = memberOf(error, 'code');
  if (code === 'ENOENT') return 'ansible-runner is not installed on this worker.';
  return 'The playbook could not be run because of an error around it.';
}
