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
 * The single code path from templates of a kind to runs. Set-based: the number of statements is
 * independent of the number of requests.
 */
export abstract class Launcher<Plan extends LaunchCheck> {
  constructor(
    private readonly database: Database,
    private readonly held: HeldRuns,
  ) {}

  /**
   * Creates the runs as `pending`, in the caller's transaction or one of its own.
   *
   * @param actor caller; null: no permission check (webhooks)
   * @returns runs in the order of the requests
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
   * Creates the runs of those requests that can be launched, in the caller's transaction and
   * without a permission check. For automatic launches that report their faults elsewhere.
   *
   * @returns results in the order of the requests
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
   * Creates a `pending` run for every request, even if it cannot start, in the caller's transaction
   * and without a permission check. For automatic launches whose runs show why they cannot start.
   * The caller must end the runs with errors.
   *
   * @throws NotFound for a template that does not exist
   */
  async spawn(requests: readonly LaunchRequest[]): Promise<SpawnedRun[]> {
    const plans = await this.plan(requests, null);
    const runs = await this.write(plans);
    return zip(runs, plans).map(([run, { errors }]) => ({ ...run, errors }));
  }

  /**
   * Plans requests and collects all faults of all requests.
   *
   * @throws NotFound
   */
  protected abstract plan(requests: readonly LaunchRequest[], actor: Actor | null): Promise<Plan[]>;

  /** Creates the runs of plans, in their order. */
  protected abstract write(plans: readonly Plan[]): Promise<LaunchedRun[]>;
}

const isPossible = ({ errors }: LaunchCheck): boolean => Object.keys(errors).length === 0;

/**
 * Throws the faults of a plan. A missing permission comes first, because faults reveal data of the
 * template and of the request's objects.
 */
function assertLaunchable(plan: LaunchCheck): void {
  if (plan.forbidden !== null) throw new Forbidden();
  if (!isPossible(plan)) throw new Invalid(plan.errors);
}

/** Returns the ids of runs that wait for an approval. */
const heldAmong = (runs: readonly LaunchedRun[], requests: readonly LaunchRequest[]): number[] =>
  zip(runs, requests).flatMap(([{ id }, { isHeld }]) => (isHeld === true ? [id] : []));
