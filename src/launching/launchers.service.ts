import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { entryOf, zip } from '../common/invariants.js';
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

/**
 * Starts runs of templates of all kinds together, in the caller's transaction: each kind has one
 * launcher. Results are in the order of the requests.
 */
@Injectable()
export class Launchers {
  private readonly launchers: ReadonlyMap<string, Launcher<LaunchRequest>>;

  constructor(
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
    return this.byKind(requests, (launcher, requestsOfKind) =>
      launcher.launchPossible(requestsOfKind),
    );
  }

  /** @see Launcher.spawn */
  spawn(requests: readonly TypedRequest[]): Promise<LaunchResult[]> {
    return this.byKind(requests, (launcher, requestsOfKind) => launcher.spawn(requestsOfKind));
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
