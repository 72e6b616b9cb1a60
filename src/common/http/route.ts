import { SetMetadata } from '@nestjs/common';
import type { Field } from '../fields/field.js';
import type { ResourceDefinition } from '../resource/define-resource.js';

export type RouteKind =
  | 'list'
  | 'create'
  | 'retrieve'
  | 'replace'
  | 'modify'
  | 'destroy'
  | 'associate'
  | 'action'
  | 'document';

/**
 * Who may reach a route at all. Object permissions are the policy's; a route without this
 * declaration is refused (closed by default) and fails the architecture tests.
 */
export type RouteAccess = 'public' | 'authenticated' | 'signature';

/** What a route is, for the guard, OPTIONS, `Allow`, OpenAPI, the HTML forms and the tests. */
export interface RouteInfo {
  kind: RouteKind;
  access: RouteAccess;
  /** Unique name in the OpenAPI document, `teams_list`. */
  operationId: string;
  summary: string;
  /** Resource of the answer. */
  resource?: ResourceDefinition;
  /** Resource of the `:id` in the URL. */
  parent?: ResourceDefinition;
  /** Action of the parent's policy the caller needs for this method; OPTIONS asks it. */
  needs?: string;
  /** Fields of the request body. */
  body?: readonly Field[];
  /** The body may be lines too, one of `body` each; the answer then as well: JSON schemas of a line. */
  lines?: { body: Record<string, unknown>; response: Record<string, unknown> };
  /** The list takes `{id}` and `{id, disassociate}`. */
  attach?: boolean;
  /** The list understands `limit`. */
  events?: boolean;
  /** Success status where it is not the usual one of the kind. */
  status?: number;
  /** The answer holds a value that is never shown again: a page shows it instead of moving on. */
  shownOnce?: boolean;
  /** JSON schema of a 2xx answer that is not a resource. */
  response?: Record<string, unknown>;
  /** Some callers are sent elsewhere instead: 302 with `Location`. */
  redirects?: boolean;
  /** Media type of a 2xx answer that is not JSON. */
  produces?: string;
  /** Query parameters of a route that is not a list. */
  query?: readonly QueryParameter[];
}

export interface QueryParameter {
  name: string;
  description: string;
  /** JSON schema of its value. */
  schema: Record<string, unknown>;
}

export const ROUTE_INFO = 'controller:route';

/** Declares a route for everything that reads routes. */
export const Route = (info: RouteInfo): MethodDecorator => SetMetadata(ROUTE_INFO, info);
