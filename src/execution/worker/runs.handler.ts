import { Injectable, Logger } from '@nestjs/common';
import { stackOf } from '../../common/errors/errors.js';
import { isOneOf } from '../../common/records.js';
import type { QueueHandler } from '../../common/queue/queue-processor.js';
import { isTransient } from '../../database/sql-state.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { EXECUTED_KINDS, type ExecutedKind } from '../../runs/executed-kinds.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { ActiveRuns, MAX_RUN_ATTEMPTS, RunEnded, type ActiveRun } from './active-runs.service.js';
import { AdHocRun } from '../ad-hoc/ad-hoc-run.service.js';
import { InventoryUpdate } from '../inventory-updates/inventory-update.service.js';
import { EngineMissing, JobEnvironments } from './job-environments.service.js';
import { Leases } from './leases.service.js';
import { finalOutcome, isExplained, outcomeOf, type RunOutcome, type RunKind } from './outcome.js';
import { PlaybookJob } from './playbook-job.service.js';
import { SystemJobRun } from '../system-jobs/system-job-run.service.js';
import { WorkerNode } from './worker-node.service.js';
import { ProjectSync } from '../project-updates/project-sync.service.js';

/** Executes the runs that the scheduler assigned to the workers. */
@Injectable()
export class RunsHandler implements QueueHandler {
  private readonly logger = new Logger('Worker');
  private readonly kinds: Readonly<Record<ExecutedKind, RunKind>>;

  constructor(
    private readonly runs: RunsRepository,
    private readonly active: ActiveRuns,
    private readonly leases: Leases,
    private readonly sandbox: SandboxService,
    private readonly environments: JobEnvironments,
    private readonly node: WorkerNode,
    playbooks: PlaybookJob,
    syncs: ProjectSync,
    inventories: InventoryUpdate,
    commands: AdHocRun,
    systemJobs: SystemJobRun,
  ) {
    this.kinds = {
      job: playbooks,
      project_update: syncs,
      inventory_update: inventories,
      ad_hoc_command: commands,
      system_job: systemJobs,
    };
  }

  async handle(runId: number): Promise<void> {
    if (this.active.isStopping || (await this.mayNotStart(runId))) return;
    const run = await this.leases.take(runId);
    if (!run) return;
    try {
      await this.execute(run);
    } finally {
      this.active.remove(run);
      await run.lookups.close();
    }
  }

  stop(): void {
    this.active.stop();
  }

  private async execute(run: ActiveRun): Promise<void> {
    let outcome: RunOutcome;
    try {
      const kind = await this.kindOf(run.id);
      if (!kind.usesEnvironmentLater) await this.environments.provide(run);
      outcome = await kind.run(run);
    } catch (error) {
      // Stored first, so that the scheduler does not place the run here again.
      if (error instanceof EngineMissing) await this.node.probe().catch(() => undefined);
      if (this.canRetry(run, error)) return this.leases.release(run);
      outcome = this.failure(run, error);
    }
    if (outcome.status === 'canceled' && this.canRetry(run, null)) return this.leases.release(run);
    return this.leases.finish(run, finalOutcome(run, outcome));
  }

  /**
   * Returns true if the run needs a sandbox that this worker does not have. The run stays `waiting` until
   * another worker takes it or the scheduler places it again.
   */
  private async mayNotStart(id: number): Promise<boolean> {
    return (await this.sandbox.refusal()) !== null && !(await this.kindOf(id)).isTrusted;
  }

  private async kindOf(id: number): Promise<RunKind> {
    const type = (await this.runs.typesOf([id])).get(id);
    if (!isOneOf(EXECUTED_KINDS, type)) throw new Error(`Runs of type ${type} have no process`);
    return this.kinds[type];
  }

  /**
   * Returns true if the run can be retried, because it has not started: by another worker, or by this
   * worker after a database outage.
   */
  private canRetry(run: ActiveRun, error: unknown): boolean {
    if (run.hasStarted) return false;
    if (run.reason === 'shutdown') return true;
    const isPossible = isTransient(error) || error instanceof EngineMissing;
    return run.reason === null && run.attempt < MAX_RUN_ATTEMPTS && isPossible;
  }

  private failure(run: ActiveRun, error: unknown): RunOutcome {
    if (run.reason === 'cancel') return { status: 'canceled' };
    if (!isExplained(error) && !(error instanceof RunEnded)) {
      this.logger.error({ message: 'run failed', run: run.id, error: stackOf(error) });
    }
    return outcomeOf(error);
  }
}
