import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import * as json from '../fields/json-schema.js';
import { toBoolean } from '../fields/lenient-reader.js';
import type { Actor } from '../access.js';
import type { ApiRequest } from '../http/request.js';
import type { Row } from '../resource/define-resource.js';

/** Creates a parameter decorator that injects a part of the request. */
export const partOfRequest = (read: (request: ApiRequest) => unknown) =>
  createParamDecorator((_data: undefined, context: ExecutionContext) =>
    read(context.switchToHttp().getRequest<ApiRequest>()),
  );

/** The caller as an `Actor`. On a public route, null for an unauthenticated request. */
export const CurrentActor = partOfRequest(({ actor }) => actor);

/** The row of the `:id` in the URL, which the access guard has loaded and authorized. */
export const Target = partOfRequest(({ target }) => target);

/** The row of the second parameter of the URL, which the access guard has loaded and authorized. */
export const Member = partOfRequest(({ member }) => member);

/**
 * Authenticates and authorizes a request again.
 *
 * @returns the caller and the row of `:id` in their current state
 */
export type Reauthorize = () => Promise<{ actor: Actor; target: Row }>;

/** A `Reauthorize`, for a handler whose response takes a long time. */
export const Reauthorizer = partOfRequest((request): Reauthorize => async () => {
  await request.reauthorize();
  return { actor: request.actor, target: request.target };
});

/** Paging, filters, search and order of a list from the query string: `QueryParameters`. */
export const ListParams = partOfRequest(({ query }) => query);

/** Returns true for a dry run (`?dry_run=1`), which reports the effects of a request but applies none. */
export function isDryRun({ query }: ApiRequest): boolean {
  return toBoolean([query.dry_run].flat().at(-1)) === true;
}

/** Query parameter of routes that support dry runs. */
export const DRY_RUN_PARAMETER = {
  name: 'dry_run',
  description: 'Validates the request and changes nothing.',
  schema: json.BOOLEAN,
} as const;

/** True for a dry run (`?dry_run=1`), which reports the effects of a request without applying them. */
export const DryRun = partOfRequest(isDryRun);
