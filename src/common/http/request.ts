import type { Request, RequestHandler } from 'express';
import type { Actor } from '../access.js';
import type { Row } from '../resource/define-resource.js';
import type { QueryParameters } from '../list/query.js';

/** A request before authentication: nobody has looked at its body yet. */
export type PlainRequest = Request<Request['params'], unknown, unknown, QueryParameters>;

/** Middleware on such a request. */
export type PlainHandler = RequestHandler<Request['params'], unknown, unknown, QueryParameters>;

/**
 * A request as handlers see it, after authentication. `query` is the plain parser's: repeated keys
 * are arrays. `body` is always an object; receivers take raw bytes instead.
 */
export interface ApiRequest extends Request<
  { id: string } & Record<string, string>,
  unknown,
  Record<string, unknown>,
  QueryParameters
> {
  actor: Actor;
  /** The row of `:id`, where it was found with who asks (`targetStatement`): not judged yet. */
  foundTarget?: Row;
  /** The row of `:id`, where the route says what that is. */
  target: Row;
  /** The row of the second parameter, where the route says what that is. */
  member: Row;
  /**
   * Authenticates the caller and judges the object of the URL again (`RequestGuards`), for a handler
   * that reads the body itself or sends a long response. Sets `actor` and `target` anew.
   */
  judgeAgain: () => Promise<void>;
}
