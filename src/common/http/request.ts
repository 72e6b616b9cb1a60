import type { Request, RequestHandler } from 'express';
import type { Actor } from '../access.js';
import type { Row } from '../resource/define-resource.js';
import type { QueryParameters } from '../list/query.js';

/** Request before authentication, whose body has not been read. */
export type PlainRequest = Request<Request['params'], unknown, unknown, QueryParameters>;

/** Middleware for requests before authentication. */
export type PlainHandler = RequestHandler<Request['params'], unknown, unknown, QueryParameters>;

/**
 * Request after authentication, as handlers receive it. `query` is from the plain parser: repeated keys
 * are arrays. `body` is always an object, except for webhook receivers, which receive raw bytes.
 */
export interface ApiRequest extends Request<
  { id: string } & Record<string, string>,
  unknown,
  Record<string, unknown>,
  QueryParameters
> {
  actor: Actor;
  /** Row of `:id`, if the route declares its resource. */
  target: Row;
  /** Row of the second parameter, if the route declares its resource. */
  member: Row;
  /**
   * Authenticates the caller and authorizes the object of the URL again (`RequestGuards`), for a handler
   * that reads the body itself or sends a long response. Updates `actor` and `target`.
   */
  reauthorize: () => Promise<void>;
}
