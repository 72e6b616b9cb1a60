import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { isDryRun } from '../http/dry-run.js';
import type { Actor } from '../access.js';
import type { ApiRequest } from '../http/request.js';
import type { Row } from '../resource/define-resource.js';

const requestOf = (context: ExecutionContext): ApiRequest =>
  context.switchToHttp().getRequest<ApiRequest>();

/** Who makes the request: an `Actor`; on a route open to all, `null` for anybody. */
export const CurrentActor = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).actor,
);

/** The row of the `:id` in the URL, which the access guard has loaded and found allowed. */
export const Target = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).target,
);

/** The row of the second parameter of the URL, found allowed in the same way. */
export const Member = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).member,
);

/** Authenticates and judges a request again. @returns the caller and the row of `:id` as they are now */
export type Judge = () => Promise<{ actor: Actor; target: Row }>;

/** For a handler whose response takes long: a `Judge`. */
export const JudgeAgain = createParamDecorator(
  (_data: undefined, context: ExecutionContext): Judge => {
    const request = requestOf(context);
    return async () => {
      await request.judgeAgain();
      return { actor: request.actor, target: request.target };
    };
  },
);

/** Paging, filters, search and order of a list, as the query string has them: `QueryParameters`. */
export const ListParams = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).query,
);

/** Whether the request only asks what would happen (`?dry_run=1`). */
export const DryRun = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  isDryRun(requestOf(context)),
);
