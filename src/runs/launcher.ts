import type { Actor } from '../common/access.js';
import { Forbidden, Invalid, type FieldErrors } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import type { Database } from '../database/database.js';
import type { LaunchType } from './unified-job.entity.js';
import type { LaunchWebhook } from './webhook-run.schema.js';

/** A request to start a run of a template, with its origin. */
export interface RunRequest {
  templateId: number;
  launchType: LaunchType;
  /** User who starts the run; null for automatic starts. */
  createdBy: number | null;
  /** Delivery that starts the run. */
  webhook?: LaunchWebhook;
}

/** The plan for one request, with the errors and the ignored fields of the request. */
export interface LaunchCheck<Request extends RunRequest = RunRequest> {
  request: Request;
  /** Texts by field; empty if the launch is possible. */
  errors: FieldErrors;
  /** True without permission to launch the template, or to use an object of the request. */
  isForbidden: boolean;
  /** Fields of the request that the template does not prompt for, with their values. */
  ignored: Record<string, unknown>;
}

/** The run that a request started. */
export interface LaunchedRun {
  id: number;
  /** Resource type: a job template that is launched in slices creates a workflow job. */
  type: string;
  /** Fields of the request that the template does not prompt for, with their values. */
  ignored: Record<string, unknown>;
}

/** Result of one request. */
export interface LaunchResult {
  /** Run; null if the launch failed. */
  run: LaunchedRun | null;
  /** Reasons why there is no run or why the run cannot start, by field. */
  errors: FieldErrors;
}

/** Returns the origin of a run that a user starts. */
export const startedBy = (actor: Actor): Pick<RunRequest, 'launchType' | 'createdBy'> => ({
  launchType: 'manual',
  // The id is 0 when the demo data are created, before any user exists.
  createdBy: actor.id === 0 ? null : actor.id,
});

/**
 * The only code path from templates of a kind to runs, for all origins. The number of statements is
 * independent of the number of requests.
 */
export abstract class Launcher<
  Request extends RunRequest = RunRequest,
  Plan extends LaunchCheck = LaunchCheck,
> {
  constructor(protected readonly database: Database) {}

  /**
   * Plans requests and collects all errors of all requests.
   *
   * @param actor caller; null: an automatic start without a permission check
   * @throws NotFound for a template that does not exist
   */
  abstract plan(requests: readonly Request[], actor: Actor | null): Promise<Plan[]>;

  /**
   * Creates a run for each plan, even if it cannot start, with its activity entry and the effects of
   * a new run. The status is `pending`, or `new` if an approval or the worker itself starts the run.
   *
   * @returns results in the order of the plans, with the errors of the plans
   */
  abstract start(plans: readonly Plan[]): Promise<LaunchResult[]>;

  /**
   * Creates the runs of all requests, in the caller's transaction or one of its own.
   *
   * @returns runs in the order of the requests
   * @throws Invalid, Forbidden or NotFound for the first request that cannot be launched
   */
  launch(requests: readonly Request[], actor: Actor | null): Promise<LaunchedRun[]> {
    return this.database.transaction(async () => {
      const plans = await this.plan(requests, actor);
      for (const plan of plans) assertLaunchable(plan);
      return (await this.start(plans)).map(({ run, errors }) => {
        if (!run) throw new Invalid(errors);
        return run;
      });
    });
  }

  /**
   * Creates the runs of those requests that can be launched, in the caller's transaction and
   * without a permission check. For automatic launches that report their errors elsewhere.
   *
   * @returns results in the order of the requests
   */
  async launchPossible(requests: readonly Request[]): Promise<LaunchResult[]> {
    return this.startPossible(await this.plan(requests, null));
  }

  /**
   * Creates a run for every request, even if it cannot start, in the caller's transaction and
   * without a permission check. For automatic launches whose runs show why they cannot start. The
   * caller must end the runs with errors.
   *
   * @returns results in the order of the requests; without a run if the template was deleted
   */
  async spawn(requests: readonly Request[]): Promise<LaunchResult[]> {
    return this.start(await this.plan(requests, null));
  }

  /** Creates the runs of plans without errors. */
  protected async startPossible(plans: readonly Plan[]): Promise<LaunchResult[]> {
    const started = (await this.start(plans.filter(isPossible))).values();
    return plans.map((plan) =>
      isPossible(plan)
        ? existing(started.next().value, 'every plan has a result')
        : { run: null, errors: plan.errors },
    );
  }
}

const isPossible = ({ errors }: LaunchCheck): boolean => Object.keys(errors).length === 0;

/**
 * Throws the errors of a plan. A missing permission comes first, because the other errors reveal data
 * of the template and of the request's objects.
 */
function assertLaunchable(plan: LaunchCheck): void {
  if (plan.isForbidden) throw new Forbidden();
  if (!isPossible(plan)) throw new Invalid(plan.errors);
}
