import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { isDryRun } from '../http/dry-run.js';
import type { Actor } from '../access.js';
import type { ApiRequest } from '../http/request.js';
import type { Row } from '../resource/define-resource.js';

const requestOf = (context: ExecutionContext): ApiRequest =>
  context.switchToHttp().getRequest<ApiRequest>();

/** The caller as an `Actor`. On a public route, null for an unauthenticated request. */
export const CurrentActor = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).actor,
);

/** The row of the `:id` in the URL, which the access guard has loaded and authorized. */
export const Target = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).target,
);

/** The row of the second parameter of the URL, which the access guard has loaded and authorized. */
export const Member = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).member,
);

/**
 * Authenticates and authorizes a request again.
 *
 * @returns the caller and the row of `:id` in their current state
 */
export type Reauthorize = () => Promise<{ actor: Actor; target: Row }>;

/** A `Reauthorize`, for a handler whose response takes a long time. */
export const Reauthorizer = createParamDecorator(
  (_data: undefined, context: ExecutionContext): Reauthorize => {
    const request = requestOf(context);
    return async () => {
      await request.reauthorize();
      return { actor: request.actor, target: request.target };
    };
  },
);

/** Paging, filters, search and order of a list from the query string: `QueryParameters`. */
export const ListParams = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).query,
);

/** True for a dry run (`?dry_run=1`), which reports the effects of a request without applying them. */
export const DryRun = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  isDryRun(requestOf(context)),
);
