import type { Request } from 'express';
import type { Actor } from '../access.js';
import type { Row } from '../resource/define-resource.js';
import type { QueryParameters } from '../list/query.js';

/**
 * A request as handlers see it, after authentication. `query` is the plain parser's: repeated keys
 * are arrays. `body` is always an object; receivers take raw bytes instead.
 */
export interface ApiRequest extends Omit<Request, 'query' | 'body' | 'params'> {
  query: QueryParameters;
  body: Record<string, unknown>;
  params: { id: string } & Record<string, string>;
  actor: Actor;
  /** The row of `:id`, where the route says what that is. */
  target: Row;
  /** The row of the second parameter, where the route says what that is. */
  member: Row;
}
