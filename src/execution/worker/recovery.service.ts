import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { InstancesRepository } from '../../instances/instances.repository.js';
import { WorkerNodesRepository } from '../../instances/worker-nodes.repository.js';
import { ProjectFolders } from '../../projects/project-folders.service.js';
import { notInQueue } from '../../runs/run-explanations.js';
import {
  RunLeasesRepository,
  waitingRuns,
  type StaleRun,
} from '../../runs/run-leases.repository.js';
import { sweepSessionFolders } from '../runner/git-session-folders.js';
import { endRun, listRuns } from '../runner/orphans.js';
import { removeDirectory } from '../runner/workspace.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { ActiveRuns, LEASE_SECONDS, MAX_RUN_ATTEMPTS } from './active-runs.service.js';
import { WorkerNode } from './worker-node.service.js';
import { messageOf } from '../../common/errors/errors.js';
import { Repeated } from '../../common/repeated-work.js';

const INTERVAL_MS = 5000;
/** Additional time for the workers of another host to clean up there, in seconds. */
const OTHER_HOST_SECONDS = 30;
/** Time for workers to renew their leases after the start and after a database outage, in ms. */
const RENEWAL_GRACE_MS = 20_000;

/** Recovers the runs of dead workers (docs/contract/runs.md#lost-workers). */
@Injectable()
export class Recovery implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Recovery');
  private readonly rounds = new Repeated(() => this.round(), {
    everyMs: INTERVAL_MS,
    logger: this.logger,
    failure: 'recovery failed',
  });
  private sweeping: Promise<void> = Promise.resolve();
  private lastContact = 0;
  private graceUntil = 0;

  constructor(
    private readonly leases: RunLeasesRepository,
    private readonly transitions: RunTransitions,
    private readonly outbox: Outbox,
    private readonly active: ActiveRuns,
    private readonly node: WorkerNode,
    private readonly nodes: WorkerNodesRepository,
    private readonly instances: InstancesRepository,
    private readonly sandbox: SandboxService,
    private readonly folders: ProjectFolders,
  ) {}

  onApplicationBootstrap(): void {
    const sweeps = [
      this.sweepContainers,
      this.sweepFolders,
      this.sweepSessions,
      () => this.folders.removeDeleted(),
    ];
    this.sweeping = (async () => {
      for (const sweep of sweeps) await this.attempt(() => sweep.call(this));
      this.rounds.start();
    })();
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds.stop();
    await this.sweeping;
  }

  /** Performs one round: dead workers, runs without a valid lease, runs whose message was lost. */
  async round(): Promise<void> {
    const now = Date.now();
    if (now - this.lastContact > RENEWAL_GRACE_MS) this.graceUntil = now + RENEWAL_GRACE_MS;
    const dead = await this.node.deadOnThisHost();
    const stale = await this.claim(dead, now >= this.graceUntil);
    // The lease of a run that cannot be recovered expires, and a later round tries again.
    for (const run of stale) await this.attempt(() => this.recover(run));
    // Before the dead workers are deleted, so that a failed round finds them again.
    if (dead.length > 0) {
      await this.attempt(() => this.sweepContainers());
      await this.sweepSessions();
    }
    await this.nodes.removeLost(dead);
    await this.instances.removeEphemeral(null);
    await this.outbox.reconcile('runs', waitingRuns());
    this.lastContact = Date.now();
  }

  /**
   * Takes over the leases of abandoned runs. After that, the previous holder cannot write even if it is
   * alive. Only then are the processes of the holder ended.
   */
  private async claim(dead: readonly string[], takesExpired: boolean): Promise<StaleRun[]> {
    return this.leases.claim({
      holder: await this.node.name(),
      hostPrefix: await this.node.hostPrefix(),
      dead,
      except: this.active.ids,
      takesExpired,
      graceSeconds: OTHER_HOST_SECONDS,
      leaseSeconds: LEASE_SECONDS,
    });
  }

  private async recover(run: StaleRun): Promise<void> {
    const ended = run.is_local ? await endRun(run.id, undefined, this.node.workspaces) : 0;
    if (run.is_local) await this.attempt(() => this.removeFolders(run.id));
    const step = { id: run.id, attempt: run.attempt };
    // Another worker repeats runs that have not started, and all project updates. A sync inside a job ends
    // with its job. Each attempt of a system job removes more.
    const hasAttempts = run.attempt <= MAX_RUN_ATTEMPTS || run.type === 'system_job';
    const canRetry = !run.has_started && hasAttempts && run.launch_type !== 'sync';
    this.logger.warn({ message: 'run recovered', run: run.id, ended, again: canRetry });
    if (run.cancel_requested) {
      await this.transitions.move([step], { from: ['running'], to: 'canceled' });
    } else if (canRetry) {
      await this.transitions.requeue(step);
    } else {
      const explained = { ...step, explanation: notInQueue(ended) };
      await this.transitions.move([explained], { from: ['running'], to: 'failed' });
    }
  }

  /**
   * Ends the processes and removes the folders of finished runs of earlier workers of this host.
   */
  private async sweepFolders(): Promise<void> {
    const runs = await listRuns(this.node.workspaces);
    const runningAttempts = await this.leases.attemptsOfRunning(runs.map(({ runId }) => runId));
    for (const { runId, attempt, dir } of runs) {
      if (runningAttempts.get(runId) === attempt) continue;
      await this.attempt(async () => {
        const ended = await endRun(runId, attempt, this.node.workspaces);
        await removeDirectory(dir);
        this.logger.warn({ message: 'folder of an old run removed', run: runId, ended });
      });
    }
  }

  private async sweepContainers(): Promise<void> {
    const removed = await this.sandbox.sweep();
    if (removed > 0) this.logger.warn({ message: 'containers of old workers removed', removed });
  }

  /** Removes the folders of dead git sessions, which hold a credential. */
  private async sweepSessions(): Promise<void> {
    const removed = await sweepSessionFolders();
    if (removed > 0) this.logger.warn({ message: 'folders of old git sessions removed', removed });
  }

  private async removeFolders(runId: number): Promise<void> {
    const runs = await listRuns(this.node.workspaces);
    for (const { dir } of runs.filter((run) => run.runId === runId)) await removeDirectory(dir);
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ message: 'recovery failed', reason: messageOf(error) });
    }
  }
}
