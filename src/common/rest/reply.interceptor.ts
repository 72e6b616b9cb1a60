import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { isDryRun } from './parameters.js';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import { memberOf } from '../records.js';
import { metadataOf } from './route-location.js';
import { successStatus } from './route-responses.js';
import { ROUTE_INFO, type RouteInfo } from './route.js';

/** Writes the status and headers that the route declares, or that the handler returns in a `Reply`. */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((value: unknown) => apply(replyOf(value, context), response)));
  }
}

function apply({ status, headers, body }: Reply<number>, response: Response): unknown {
  response.status(status);
  for (const [name, text] of Object.entries(headers)) response.setHeader(name, text);
  return body;
}

/**
 * Converts the return value of a handler to a response. The status is 200 for a dry run, and otherwise
 * the status that the route declares. 201 and 202 get the `Location` of the object in the body
 * (docs/contract/conventions.md#success-statuses).
 */
export function replyOf(value: unknown, context: ExecutionContext): Reply<number> {
  const status = declaredStatus(context);
  if (isReply(value)) return new Reply(value.status ?? status, value.body, value.headers);
  const url = status === 201 || status === 202 ? memberOf(value, 'url') : undefined;
  return new Reply(status, value, typeof url === 'string' ? { Location: url } : {});
}

const isReply = (value: unknown): value is Reply => value instanceof Reply;

function declaredStatus(context: ExecutionContext): number {
  const info = metadataOf<RouteInfo>(ROUTE_INFO, context.getHandler());
  if (!info) return 200;
  const hasDryRuns = info.query?.some(({ name }) => name === 'dry_run') === true;
  return hasDryRuns && isDryRun(context.switchToHttp().getRequest<ApiRequest>())
    ? 200
    : successStatus(info);
}
