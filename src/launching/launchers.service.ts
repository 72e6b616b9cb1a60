import { Injectable, Logger } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { UnsealError } from '../common/crypto/secret-box.js';
import { NotFound, stackOf } from '../common/errors/errors.js';
import { entryOf, zip } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { BROKEN_REFERENCE, isTransient, sqlState } from '../database/sql-state.js';
import { InventoryUpdateLauncher } from '../inventory-sources/inventory-update-launcher.service.js';
import { ProjectUpdateLauncher } from '../projects/project-update-launcher.service.js';
import { SystemJobLauncher } from '../system-jobs/system-job-launcher.service.js';
import type { LaunchedRun, Launcher, LaunchResult } from '../runs/launcher.js';
import { JobLauncher } from './job-launcher.service.js';
import type { LaunchRequest } from './template-launcher.js';
import { WorkflowJobLauncher } from './workflow-job-launcher.service.js';

/** A request to start a run of a template of any kind. */
export interface TypedRequest extends LaunchRequest {
  /** Resource type of the template. */
  templateType: string;
}

const INTERNAL = 'The launch failed because of an internal error. See the log of the worker.';

type Start = (
  launcher: Launcher<LaunchRequest>,
  requests: TypedRequest[],
) => Promise<LaunchResult[]>;

/**
 * Starts runs of templates of all kinds together, in the caller's transaction: each kind has one
 * launcher. Results are in the order of the requests.
 */
@Injectable()
export class Launchers {
  private readonly logger = new Logger('Launches');
  private readonly launchers: ReadonlyMap<string, Launcher<LaunchRequest>>;

  constructor(
    private readonly database: Database,
    jobs: JobLauncher,
    workflowJobs: WorkflowJobLauncher,
    projectUpdates: ProjectUpdateLauncher,
    inventoryUpdates: InventoryUpdateLauncher,
    systemJobs: SystemJobLauncher,
  ) {
    this.launchers = new Map<string, Launcher<LaunchRequest>>([
      ['job_template', jobs],
      ['workflow_job_template', workflowJobs],
      ['project', projectUpdates],
      ['inventory_source', inventoryUpdates],
      ['system_job_template', systemJobs],
    ]);
  }

  /** @see Launcher.launch */
  launch(requests: readonly TypedRequest[], actor: Actor | null): Promise<LaunchedRun[]> {
    return this.byKind(requests, (launcher, requestsOfKind) =>
      launcher.launch(requestsOfKind, actor),
    );
  }

  /** @see Launcher.launchPossible */
  launchPossible(requests: readonly TypedRequest[]): Promise<LaunchResult[]> {
    return this.startEach(requests, (launcher, ofKind) => launcher.launchPossible(ofKind));
  }

  /** @see Launcher.spawn */
  spawn(requests: readonly TypedRequest[]): Promise<LaunchResult[]> {
    return this.startEach(requests, (launcher, ofKind) => launcher.spawn(ofKind));
  }

  private startEach(requests: readonly TypedRequest[], start: Start): Promise<LaunchResult[]> {
    return this.byKind(requests, (launcher, ofKind) => this.startParts(launcher, ofKind, start));
  }

  /**
   * Starts requests together. After a failure, starts each half alone, so that a request that cannot
   * be processed, for example because a key is lost, does not prevent the others.
   */
  private async startParts(
    launcher: Launcher<LaunchRequest>,
    requests: TypedRequest[],
    start: Start,
  ): Promise<LaunchResult[]> {
    try {
      return await this.startCurrent(() => start(launcher, requests));
    } catch (error) {
      if (isTransient(error)) throw error;
      if (requests.length === 1) {
        return [{ run: null, errors: { __all__: [this.reasonOf(error)] } }];
      }
      const middle = Math.ceil(requests.length / 2);
      return [
        ...(await this.startParts(launcher, requests.slice(0, middle), start)),
        ...(await this.startParts(launcher, requests.slice(middle), start)),
      ];
    }
  }

  /** Starts a second time if an object of a launch was deleted meanwhile: the second plan is without it. */
  private async startCurrent<Result>(start: () => Promise<Result>): Promise<Result> {
    try {
      return await this.database.savepoint(start);
    } catch (error) {
      if (sqlState(error) !== BROKEN_REFERENCE) throw error;
      return this.database.savepoint(start);
    }
  }

  private reasonOf(error: unknown): string {
    if (error instanceof UnsealError || error instanceof NotFound) return error.message;
    this.logger.error({ message: 'launch failed', error: stackOf(error) });
    return INTERNAL;
  }

  private async byKind<Result>(
    requests: readonly TypedRequest[],
    start: (launcher: Launcher<LaunchRequest>, requestsOfKind: TypedRequest[]) => Promise<Result[]>,
  ): Promise<Result[]> {
    const results = new Map<TypedRequest, Result>();
    for (const [type, launcher] of this.launchers) {
      const requestsOfKind = requests.filter(({ templateType }) => templateType === type);
      if (requestsOfKind.length === 0) continue;
      for (const [request, result] of zip(requestsOfKind, await start(launcher, requestsOfKind))) {
        results.set(request, result);
      }
    }
    return requests.map((request) => entryOf(results, request));
  }
}
