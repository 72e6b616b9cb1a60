import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Forbidden, Invalid, NotFound } from '../common/errors/errors.js';
import { existing, zip } from '../common/invariants.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { HeldRuns } from '../workflows/held-runs.js';
import { WorkflowRows } from '../workflows/workflow-rows.js';
import { planLaunch, type PlannedLaunch } from './launch-check.js';
import { LaunchLoader } from './launch-loader.js';
import { LaunchRows } from './launch-rows.js';
import type { LaunchCheck, LaunchedRun, LaunchRequest, SpawnedRun } from './launch-request.js';
import { slicedJobOf } from './sliced-jobs.js';

/**
 * The one way from a job template to a job. Set-based: the number of statements does not depend on the
 * number of requests.
 */
@Injectable()
export class LaunchService {
  constructor(
    private readonly database: Database,
    private readonly loader: LaunchLoader,
    private readonly rows: LaunchRows,
    private readonly settings: Settings,
    private readonly workflows: WorkflowRows,
    private readonly held: HeldRuns,
  ) {}

  /**
   * Checks requests without writing, all faults of all of them.
   *
   * @param actor null: no permission is asked (webhooks)
   * @throws NotFound for a template that does not exist
   */
  check(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchCheck[]> {
    return this.plan(requests, actor);
  }

  /**
   * Creates the jobs as `pending`, those in slices as workflow jobs, in the caller's transaction or one of its own.
   *
   * @param actor null: no permission is asked (webhooks)
   * @returns in the order of the requests
   * @throws Invalid, Forbidden or NotFound for the first request that cannot be launched
   */
  async launch(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchedRun[]> {
    return this.database.transaction(async () => {
      const plans = await this.plan(requests, actor);
      for (const plan of plans) assertLaunchable(plan);
      const runs = await this.write(plans);
      await this.held.hold(heldAmong(runs, requests));
      return runs;
    });
  }

  /**
   * Creates a `pending` job for every request, in the caller's transaction, without asking for any
   * permission: for what starts by itself and has to show why it cannot. The caller ends the jobs
   * that come with errors.
   *
   * @throws NotFound for a template that does not exist
   */
  async spawn(requests: readonly LaunchRequest[]): Promise<SpawnedRun[]> {
    const plans = await this.plan(requests, null);
    const runs = await this.write(plans);
    return zip(runs, plans).map(([run, { errors }]) => ({ ...run, errors }));
  }

  private async write(plans: readonly PlannedLaunch[]): Promise<LaunchedRun[]> {
    const sliced = plans.filter(({ slices }) => slices > 1);
    const jobs = await this.rows.write(plans.filter(({ slices }) => slices === 1));
    const workflows = await this.workflows.write(sliced.map(slicedJobOf));
    const ids = { job: jobs, workflow_job: workflows.map(({ id }) => id) };
    return plans.map(({ slices, ignored }) => {
      const type = slices === 1 ? 'job' : 'workflow_job';
      return { id: existing(ids[type].shift(), 'every plan has a run'), type, ignored };
    });
  }

  private async plan(
    requests: readonly LaunchRequest[],
    actor: Actor | null,
  ): Promise<PlannedLaunch[]> {
    const objects = await this.loader.load(
      {
        templates: [...new Set(requests.map(({ templateId }) => templateId))],
        inventories: requests.flatMap(({ prompts }) => prompts.inventory ?? []),
        labels: requests.flatMap(({ prompts }) => prompts.labels ?? []),
        credentials: requests.flatMap(({ prompts }) => prompts.credentials ?? []),
        instanceGroups: requests.flatMap(({ prompts }) => prompts.instance_groups ?? []),
      },
      actor,
    );
    const limits = { maxForks: this.settings.MAX_FORKS };
    return requests.map((request) => {
      const template = objects.templates.get(request.templateId);
      if (!template) throw new NotFound('No JobTemplate matches the given query.');
      return planLaunch(request, template, objects, limits);
    });
  }
}

/** Ids of the runs that begin once they are approved. */
export const heldAmong = (
  runs: readonly LaunchedRun[],
  requests: readonly LaunchRequest[],
): number[] => zip(runs, requests).flatMap(([{ id }, { isHeld }]) => (isHeld === true ? [id] : []));

/** The template's own refusal comes first: its faults are no business of those who may not launch it. */
export function assertLaunchable({ errors, forbidden }: LaunchCheck): void {
  if (forbidden === 'template') throw new Forbidden();
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  if (forbidden !== null) throw new Forbidden();
}
