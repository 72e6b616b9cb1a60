import type { Actor } from '../common/access.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { existing, zip } from '../common/invariants.js';
import type { Database } from '../database/database.js';
import type { HeldRuns } from '../workflows/held-runs.listener.js';
import type {
  LaunchCheck,
  LaunchedRun,
  LaunchRequest,
  SpawnedRun,
  TriedLaunch,
} from './launch-request.js';

/**
 * The one way from templates of a kind to runs. Set-based: the number of statements does not depend on
 * the number of requests.
 */
export abstract class Launcher<Plan extends LaunchCheck> {
  constructor(
    private readonly database: Database,
    private readonly held: HeldRuns,
  ) {}

  /**
   * Creates the runs as `pending`, in the caller's transaction or one of its own.
   *
   * @param actor null: no permission is asked (webhooks)
   * @returns in the order of the requests
   * @throws Invalid, Forbidden or NotFound for the first request that cannot be launched
   */
  launch(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchedRun[]> {
    return this.database.transaction(async () => {
      const plans = await this.plan(requests, actor);
      for (const plan of plans) assertLaunchable(plan);
      const runs = await this.write(plans);
      await this.held.hold(heldAmong(runs, requests));
      return runs;
    });
  }

  /**
   * Creates the runs of those requests that can be launched, in the caller's transaction and without
   * asking for any permission: for what starts by itself, and tells elsewhere why it did not.
   *
   * @returns in the order of the requests
   * @throws NotFound for a template that does not exist
   */
  async launchPossible(requests: readonly LaunchRequest[]): Promise<TriedLaunch[]> {
    const plans = await this.plan(requests, null);
    const runs = (await this.write(plans.filter(isPossible))).values();
    return plans.map((plan) => ({
      run: isPossible(plan) ? existing(runs.next().value, 'every launch has a run') : null,
      errors: plan.errors,
    }));
  }

  /**
   * Creates a `pending` run for every request, also for one that cannot go on, in the caller's
   * transaction and without asking for any permission: for what starts by itself and has to show why
   * it cannot. The caller ends the runs that come with errors.
   *
   * @throws NotFound for a template that does not exist
   */
  async spawn(requests: readonly LaunchRequest[]): Promise<SpawnedRun[]> {
    const plans = await this.plan(requests, null);
    const runs = await this.write(plans);
    return zip(runs, plans).map(([run, { errors }]) => ({ ...run, errors }));
  }

  /** Works out what would come of requests, all faults of all of them. @throws NotFound */
  protected abstract plan(requests: readonly LaunchRequest[], actor: Actor | null): Promise<Plan[]>;

  /** Makes the runs of plans, in their order. */
  protected abstract write(plans: readonly Plan[]): Promise<LaunchedRun[]>;
}

const isPossible = ({ errors }: LaunchCheck): boolean => Object.keys(errors).length === 0;

/** The refusal comes first: faults tell of the template and of what the launch names. */
function assertLaunchable(plan: LaunchCheck): void {
  if (plan.forbidden !== null) throw new Forbidden();
  if (!isPossible(plan)) throw new Invalid(plan.errors);
}

/** Ids of the runs that begin once they are approved. */
const heldAmong = (runs: readonly LaunchedRun[], requests: readonly LaunchRequest[]): number[] =>
  zip(runs, requests).flatMap(([{ id }, { isHeld }]) => (isHeld === true ? [id] : []));
