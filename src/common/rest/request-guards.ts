import type { ExecutionContext } from '@nestjs/common';

/** The guards of a request, which decide before its body is read. Implemented by the auth module. */
export abstract class RequestGuards {
  /**
   * Authenticates the caller again, and judges the object of the URL again.
   *
   * @throws Unauthenticated, Forbidden, NotFound
   */
  abstract judge(context: ExecutionContext): Promise<void>;
}
