import type { ExecutionContext } from '@nestjs/common';

/** Guards of a request, which run before its body is read. The auth module implements this class. */
export abstract class RequestGuards {
  /**
   * Authenticates the caller and authorizes the object of the URL again.
   *
   * @throws Unauthenticated, Forbidden, NotFound
   */
  abstract check(context: ExecutionContext): Promise<void>;
}
