import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { LaunchCheck, LaunchedJobs, LaunchRequest } from './launch-request.js';

/**
 * The one way from a job template to a job. Set-based: the number of statements does not depend on the
 * number of requests.
 */
@Injectable()
export class LaunchService {
  /** Checks requests without writing. `actor` null: no permission is asked (webhooks). */
  check(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchCheck[]> {
    throw new Error(`${requests.length} ${String(actor)}`);
  }

  /**
   * Creates the jobs as `pending`, in the caller's transaction.
   *
   * @throws Invalid, Forbidden or NotFound for the first request that cannot be launched
   */
  launch(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchedJobs> {
    throw new Error(`${requests.length} ${String(actor)}`);
  }
}
